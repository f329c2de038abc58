// The part of the plug-in that needs the engine. A separate file in the build, because other hooks would otherwise spend most of
// their time loading it. Only the server loads its own packages.
export { answerAbout, answerTo, commandNames, keptAnswer } from './commands.ts'
export { shortened } from './shorten.ts'

export const loadServer = () => import('@everlong/cli/mcp')
