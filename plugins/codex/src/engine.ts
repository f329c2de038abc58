// What of the plug-in reads whole sessions. A file of its own when built, because the hook seldom needs it. The server's
// packages are loaded only by the server.
export { inBackground } from './background.ts'
export { sourceBefore } from './source.ts'

export const loadServer = () => import('@everlong/cli/mcp')
