// Everything of the plug-in that needs the engine. A file of its own when built, because hooks that need none of it would
// otherwise spend most of their time on reading it. The server's packages are loaded only by the server.
export { answerAbout, answerTo, commandNames, keptAnswer } from './commands.ts'
export { shortened } from './shorten.ts'

export const loadServer = () => import('@everlong/cli/mcp')
