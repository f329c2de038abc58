// everlong/internal/testing: unstable, like everlong/internal. Made-up sessions for our tests and benchmarks.

export { corrupt } from './testing/corrupt.ts'
export { generateCodexRollout } from './testing/foreign/codex.ts'
export { generatePiSession } from './testing/foreign/pi.ts'
export { generateTalk, talkFormats } from './testing/foreign/talk.ts'
export { mulberry32, random } from './testing/random.ts'
export { type SessionBuilder, serialize, session, textBlock, thinkingBlock, toolUseBlock } from './testing/records.ts'
export { keptLayouts, type SessionOptions } from './testing/sessions/options.ts'
export { generateSession, generateWithTruth, streamWithTruth } from './testing/sessions/session.ts'
export { clientStyles } from './testing/sessions/style.ts'
