// @everlong/agent/terminal/worker: what a worker's module needs to serve its agent to a terminal.

export { commandInfos } from './host/command-infos.ts'
export { serveInWorker } from './host/in-worker.ts'
export { pastOf } from './host/past.ts'
export type { CommandInfo } from './host/protocol.ts'
