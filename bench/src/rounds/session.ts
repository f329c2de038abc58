// The generated session of the rounds: ordinary work, and in every tenth turn a fact. The same for everybody, turn by turn.
import type { Block, Message } from 'everlong'
import { randomFrom } from '../random.ts'
import { type PlantedFact, plantedFacts, type Told } from './facts.ts'

export type Turn = { readonly messages: readonly Message[]; readonly fact?: PlantedFact }

const verbs = ['Sort', 'Check', 'Rename', 'Move', 'Measure', 'Trim', 'Guard', 'Cache', 'Log', 'Split']
const nouns = ['orders', 'invoices', 'labels', 'routes', 'drivers', 'pallets', 'refunds', 'scans', 'depots', 'slots']

export function madeUpTurns(count: number, facts: number): readonly Turn[] {
  const planted = plantedFacts(facts)
  const every = Math.floor(count / facts)
  const random = randomFrom(11)
  return Array.from({ length: count }, (_, at): Turn => {
    const fact = at % every === Math.floor(every / 2) ? planted[Math.floor(at / every)] : undefined
    const work = `${random.pick(verbs)} the ${random.pick(nouns)} of bay ${at}`
    const told = fact?.told
    const human = told?.by === 'human' ? `${work}. ${told.text}` : `${work}.`
    const answer = told?.by === 'assistant' ? `${told.text} Bay ${at} is done.` : `Bay ${at} is done.`
    return {
      messages: [
        { role: 'user', content: [{ type: 'text', text: human }] },
        ...called(`w${at}`, ordinary(at, random.below(900))),
        ...(told?.by === 'tool' ? called(`f${at}`, told) : []),
        { role: 'assistant', content: [{ type: 'text', text: answer }] },
      ],
      ...(fact ? { fact } : {}),
    }
  })
}

type Called = Extract<Told, { readonly by: 'tool' }>

function ordinary(at: number, length: number): Called {
  const body = Array.from({ length: 10 + Math.floor(length / 60) }, (_, line) => {
    const word = nouns[(at * 3 + line) % nouns.length]
    return `${line + 1}\texport const ${word}${(at * 37 + line) % 101} = (${word}: number) => ${word} + ${line}`
  })
  const name = `${nouns[at % 10]}-${verbs[Math.floor(at / 10) % 10]?.toLowerCase()}`
  return {
    by: 'tool',
    name: 'Read',
    input: { file_path: `/home/dev/shop/src/work/${name}.ts` },
    result: body.join('\n'),
  }
}

function called(id: string, { name, input, result }: Called): readonly Message[] {
  const use: Block = { type: 'tool_use', id: `toolu_${id}`, name, input }
  const answer: Block = { type: 'tool_result', tool_use_id: `toolu_${id}`, content: result }
  return [
    { role: 'assistant', content: [use] },
    { role: 'user', content: [answer] },
  ]
}
