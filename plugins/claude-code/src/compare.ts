// What of the plug-in reads transcripts after a compaction. A file of its own when built: the agent waits for it, and reading all
// of the engine would take longer than the work itself.
export { countGivenBack } from 'everlong/internal/node'
export { givenBackLine } from '../../shared/given-back.ts'
export { inBackground } from './background.ts'
export { compare } from './lost.ts'
export { readRules } from './rules.ts'
