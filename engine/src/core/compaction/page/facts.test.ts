import { describe, expect, test } from 'vitest'
import type { Exchange } from '../../ledger/facts.ts'
import { unsaidReports } from './facts.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

describe('what the agent reported and a summary does not say', () => {
  const exchange = (text: string, told: string): Exchange => ({ kind: 'message', text, report: told, last: 0 })
  const facts = (exchanges: readonly Exchange[], shown: string, tokens = 1_000) =>
    unsaidReports(exchanges, { shown, tokens, since: 0, isThin: true, countTokens })
  const told = 'The cellar hinge broke because the screws rusted during winter storage.'

  test('is told under the request it belongs to, unless one passage says it already', () => {
    expect(facts([exchange('Look at it.', told)], 'The gate is green.').join('\n')).toContain(told)
    expect(
      facts([exchange('Look at it.', told)], 'In winter storage the screws rusted, so the cellar hinge broke.'),
    ).toEqual([])
    const apart = `The cellar hinge. ${'x '.repeat(1_500)} Screws rusted. ${'y '.repeat(1_500)} winter storage`
    expect(facts([exchange('Look at it.', told)], apart)).not.toEqual([])
  })

  test('after a rejection or an approval without words says which, and never quotes nothing', () => {
    const after = (more: Partial<Exchange>) => facts([{ ...exchange('', told), ...more }], '')[0]
    expect(after({ kind: 'rejection' })).toBe('- After the user rejected a call:')
    expect(after({ kind: 'approval' })).toBe('- After the user approved a plan:')
    expect(after({ text: ' \n ' })).toBe('- After a message without text:')
  })

  test('keeps within its tokens, the newest first, and leaves pleasantries out', () => {
    const many = Array.from({ length: 20 }, (_, at) =>
      exchange(`Look at part ${at}.`, told.replace('cellar', `cellar${at}`)),
    )
    const some = facts(many, '', 120)
    expect(countTokens(some.join('\n'))).toBeLessThanOrEqual(120)
    expect(some.join('\n')).toContain('cellar19')
    expect(some.join('\n')).not.toContain('cellar0 ')
    expect(facts([exchange('Look.', 'All done!')], '')).toEqual([])
    expect(facts(many, '', 0)).toEqual([])
  })

  test('an item stands under its lead-in, and a table of which most is new is told whole', () => {
    const list = [
      'These parts of the cellar door are worn:',
      '- The upper hinge lost both screws during winter storage.',
      '- The lower hinge bends whenever somebody leans against it.',
      '',
      '| part | what happened to it |',
      '| --- | --- |',
      '| frame | swollen since the flooding of last November |',
      '| lock | rusty |',
    ].join('\n')
    expect(facts([exchange('Look.', list)], 'The lower hinge bends whenever somebody leans against it.')).toEqual([
      '- After "Look.":',
      '  These parts of the cellar door are worn:',
      '  - The upper hinge lost both screws during winter storage.',
      '  | part | what happened to it |',
      '  | frame | swollen since the flooding of last November |',
      '  | lock | rusty |',
    ])
  })

  test('what was done since the user last spoke comes before older reports', () => {
    const latest: Exchange = {
      ...exchange('Go on.', 'Working.'),
      steps: [{ type: 'did', text: 'edited cellar/hinge.ts: `screws.tighten(upper, lower, rusted)`' }],
    }
    expect(facts([exchange('Look.', told), latest], '', 34)).toEqual([
      '- After "Go on.":',
      '  edited cellar/hinge.ts: `screws.tighten(upper, lower, rusted)`',
    ])
  })

  test('code, questions and announcements are no reports', () => {
    const chatter = [
      'Should the cellar hinge be replaced before winter storage begins?',
      'Let me look at the screws of the cellar hinge before winter storage.',
      '```',
      'const hinge = replaceCellarHinge({ before: winterStorage, screws: 4 })',
      '```',
    ].join('\n')
    expect(facts([exchange('Look.', chatter)], '')).toEqual([])
  })

  test('beside a thorough summary only the latest three count, and those that its author never saw', () => {
    const at = (last: number): Exchange => ({
      ...exchange(`Look at part ${last}.`, told.replace('cellar', `cellar/${last}`)),
      last,
      done: `edited gate/${last}.ts: \`green paint for part ${last}\``,
    })
    const beside = (exchanges: readonly Exchange[]) =>
      unsaidReports(exchanges, { shown: '', tokens: 1_000, since: 10, isThin: false, countTokens })
    const heads = beside([0, 1, 10, 11, 12, 13].map(at)).filter((line) => line.startsWith('- '))
    expect(heads).toEqual([
      `- Earlier: ${told.replace('cellar', 'cellar/0')}`,
      `- Earlier: ${told.replace('cellar', 'cellar/1')}`,
      '- After "Look at part 11.":',
      '- After "Look at part 12.":',
      '- After "Look at part 13.":',
    ])
    const vague = { ...at(0), report: told }
    const deed = '- Earlier the agent edited gate/0.ts: `green paint for part 0`'
    expect(beside([vague])).toEqual([deed])
    expect(beside([{ ...vague, report: `${told.slice(0, -1)}, and hinge/a.ts is clean now.` }])).toEqual([deed])
  })
})
