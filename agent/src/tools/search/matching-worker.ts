// The thread that a search runs in. A file of its own: the agent itself may run in a worker, and must not search by loading it.
import { parentPort, workerData } from 'node:worker_threads'
import { type Search, searchFiles } from './matching.ts'

parentPort?.postMessage(searchFiles(workerData as Search))
