// Numbers, sizes, times and money: the same functions that the agent's terminal uses.

export {
  bytes,
  clockTime,
  count,
  counted,
  dateTime,
  dollars,
  duration,
  exactDollars,
  percent,
  seconds,
  short,
} from '@everlong/agent/render'
