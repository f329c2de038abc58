// Columns of a terminal: the same functions that the agent's terminal uses.

export { columnsOf, cut, cutStart, fold, padEnd, padStart, wrap } from '@everlong/agent/render'
