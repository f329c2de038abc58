// @everlong/agent/terminal: the agent in a terminal. Nothing of the engine is loaded here: the agent has its own thread.

export { homeOf } from '../sessions/places.ts'
export type { TerminalOptions } from './options.ts'
export type { Play, Player } from './player.ts'
export { runTerminal, wantsPlain } from './run-terminal.ts'
