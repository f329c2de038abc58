// The part of the plug-in that reads whole sessions. A separate file in the build, because the hook rarely needs it. Only the
// server loads its own packages.
export { inBackground } from './background.ts'
export { sourceBefore } from './source.ts'

export const loadServer = () => import('@everlong/cli/mcp')
