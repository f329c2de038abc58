// What a session needs only when it compacts. See load-compaction.ts.

export { stageCollapse } from '../collapse/stage.ts'
export { piecesOf } from '../compaction/plan.ts'
export { isRuleFile, rulePlaces } from '../restore/from-disk.ts'
export { restoreContext } from '../restore/restore.ts'
export { touchedFiles } from '../restore/touched.ts'
export { summarize, summarizeFromNotes } from './summarize.ts'
