// @everlong/agent/terminal: the agent in a terminal. Nothing of the engine is loaded here: the agent has its own thread.

export type { Started } from './host/serve.ts'
export type { TerminalOptions } from './options.ts'
export type { Play, Player } from './player.ts'
export { runTerminal, wantsPlain } from './run-terminal.ts'
