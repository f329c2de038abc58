// The thread for a search. A separate file, because the agent itself may run in a worker and must not search when it loads this.
import { parentPort, workerData } from 'node:worker_threads'
import { type Search, searchFiles } from './matching.ts'

parentPort?.postMessage(searchFiles(workerData as Search))
