// One line for the person after a compaction: how much Everlong gave back to the agent.
import type { GivenBack } from 'everlong/internal/node'

/** `where` says where the details are. Undefined if nothing was given back. */
export function givenBackLine({ rules, facts, doubts }: GivenBack, where: string): string | undefined {
  const given = [...counted(rules, 'rule'), ...counted(facts, 'fact')].join(' and ')
  const [doubtful] = counted(doubts, 'doubtful claim')
  if (given === '' && doubtful === undefined) return undefined
  if (given === '') return `Everlong found ${doubtful} in the summary: ${where}`
  return `Everlong gave back ${given}${doubtful === undefined ? '' : `; ${doubtful}`}: ${where}`
}

function counted(count: number, noun: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`]
}
