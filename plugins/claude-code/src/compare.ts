// The part of the plug-in that reads transcripts after a compaction. A separate file in the build, because the agent waits for it
// and loading the whole engine would take longer than the work itself.
export { countGivenBack } from 'everlong/internal/node'
export { givenBackLine } from '../../shared/given-back.ts'
export { inBackground } from './background.ts'
export { compare } from './lost.ts'
export { readRules } from './rules.ts'
