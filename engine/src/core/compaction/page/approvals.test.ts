import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Exchange } from '../../ledger/facts.ts'
import { annotateApprovals, isHarmful, noApproval } from './claims.ts'

const said = (text: string, more: Partial<Exchange> = {}): Exchange => ({ kind: 'message', text, last: 0, ...more })
const check = (text: string, ...exchanges: readonly Exchange[]) => annotateApprovals(text, exchanges)
const isMarked = (text: string, ...exchanges: readonly Exchange[]) => check(text, ...exchanges).found.length > 0

describe('a claim that the user approved something', () => {
  test.each([
    'The user approved deleting the legacy tables.',
    'The user explicitly authorized the release of version 4.',
    'The release of version 4 was approved by the user.',
    'With the user’s permission, the legacy tables were dropped.',
    'The user gave the go-ahead to rewrite the scheduler.',
    'The human okayed the new schema.',
    '- **Decision**: user confirmed the switch to Redis',
  ])('is marked where nothing supports it: %s', (claim) => {
    const { text, found } = check(claim, said('Fix the parser.'))
    expect(text).toBe(`${claim} ${noApproval}`)
    expect(found).toEqual([claim])
  })

  test('is supported by a message that names it', () => {
    const claim = 'The user approved deleting the legacy tables.'
    expect(isMarked(claim, said('Please delete the legacy tables tomorrow.'))).toBe(false)
    expect(isMarked(claim, said('Please look at the tables.'))).toBe(true)
  })

  test('is supported by a reply to a question that names it, and by no other “ok”', () => {
    const claim = 'The user approved deleting the legacy tables.'
    expect(isMarked(claim, said('yes', { about: 'Shall I delete the legacy tables?' }))).toBe(false)
    expect(isMarked(claim, said('ok', { about: 'Shall I run the tests?' }))).toBe(true)
    expect(isMarked(claim, said('no', { about: 'Shall I delete the legacy tables?' }))).toBe(true)
    expect(isMarked(claim, said("don't, wait", { about: 'Shall I delete the legacy tables?' }))).toBe(true)
    expect(isMarked(claim, said('', { kind: 'rejection', about: 'Bash delete legacy tables' }))).toBe(true)
    expect(isMarked(claim, { kind: 'answer', text: 'Yes', about: 'Delete the legacy tables?', last: 0 })).toBe(false)
  })

  test('is supported by a short reply to a report that names it, whoever spoke in between', () => {
    const report = said('Look at the database.', { report: 'I would now delete the legacy tables.' })
    const task = said('Count.', { kind: 'task', report: 'Three.' })
    const claim = 'The user approved deleting the legacy tables.'
    expect(isMarked(claim, report, said('ok'))).toBe(false)
    expect(isMarked(claim, task, report, said('ok'))).toBe(false)
    expect(isMarked(claim, report, said('something else'.repeat(8)))).toBe(true)
  })

  test('to do harm to something is not supported by a message that only names the thing', () => {
    const claim = 'The user approved deleting the house.'
    expect(isMarked(claim, said('Look at the house.'))).toBe(true)
    expect(isMarked(claim, said('Remove the house.'))).toBe(false)
  })

  test.each([
    'Never drop the legacy tables.',
    'Do not delete the legacy tables, and do not rename them.',
    'Under no circumstances delete the legacy tables.',
    "You mustn't delete any of the legacy tables!",
    'Don’t you dare delete the legacy tables',
    'Look at the schema. The legacy tables are not to be deleted.',
    'Ask me before you delete the legacy tables.',
    'Clean up the code, but never delete the legacy tables.',
  ])('is not supported by a message that forbids it, or allows it only on a condition: %s', (text) => {
    const claim = 'The user approved deleting the legacy tables.'
    expect(isMarked(claim, said(text))).toBe(true)
    expect(isMarked(claim, said(text, { about: 'Shall I delete the legacy tables?' }))).toBe(true)
    expect(isMarked(claim, said(text), said('ok'))).toBe(true)
    expect(isMarked(claim, said(text), said('I thought about it: delete the legacy tables now.'))).toBe(false)
  })

  test.each([
    'Delete the legacy tables, but never drop the table orders.',
    'Delete the legacy tables. Do not touch the table orders.',
    'Delete the legacy tables without asking me again.',
    'No problem, delete the legacy tables.',
  ])('is supported by a message that forbids something else: %s', (text) => {
    expect(isMarked('The user approved deleting the legacy tables.', said(text))).toBe(false)
  })

  test('is not supported by what another agent asked for', () => {
    expect(isMarked('The user approved the release.', said('Make the release.', { kind: 'task' }))).toBe(true)
  })

  test('of a plan is supported by its approval, also where the claim names a detail of it, and not by a rejected plan', () => {
    const approval = {
      kind: 'approval',
      text: '',
      about: '# Rewrite the scheduler\n- drop the cron table',
      last: 0,
    } as const
    const asked = said('Plan it.')
    expect(isMarked('The user approved the plan.', asked, approval)).toBe(false)
    expect(isMarked('The user approved dropping the cron table.', asked, approval)).toBe(false)
    expect(isMarked('The user approved the release.', asked, approval)).toBe(true)
    const rejection = said('', { kind: 'rejection', about: 'ExitPlanMode' })
    expect(isMarked('The user approved the plan.', asked, rejection)).toBe(true)
    expect(isMarked('The user agreed to it.', asked, rejection)).toBe(true)
    expect(isMarked('The user approved the plan.', said('I like the plan, go ahead.'))).toBe(false)
  })

  test.each([
    'The user has not approved deleting the legacy tables.',
    'Delete the legacy tables once the user approved it.',
    'Ask whether the user approved the release.',
    'If the user agreed to the release, tag it.',
    'Nothing was approved by the user without a test.',
    'The users table allowed null values in the email column.',
  ])('is none where it is negated, conditional or about something else: %s', (sentence) => {
    expect(check(sentence, said('Fix the parser.'))).toEqual({ text: sentence, found: [] })
  })

  test('is checked on its own, whatever else the line claims, and the blanks between stay', () => {
    const line = 'The user approved the new schema.  The user approved the release.\tAll good.'
    const { text, found } = check(line, said('The new schema is fine, use it.'))
    expect(found).toEqual(['The user approved the release.'])
    expect(text).toBe(`The user approved the new schema.  The user approved the release. ${noApproval}\tAll good.`)
  })

  test('that could do harm is reported apart', () => {
    const text =
      'The user approved force-pushing.\nThe user approved the new logo.\nThe user authorized the deployment.'
    expect(check(text, said('Fix the parser.')).found.filter(isHarmful)).toEqual([
      'The user approved force-pushing.',
      'The user authorized the deployment.',
    ])
  })
})

test('nothing is removed from a text, and what is not marked is not changed', () => {
  const part = fc.constantFrom(
    'The user approved ',
    'the release',
    '. ',
    '.  ',
    '\n',
    'not ',
    'accepted by the user',
    ' ',
    '! ',
    'The tests pass',
    '\t',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const text = parts.join('')
      const checked = check(text, said('Fix the parser.'))
      expect(checked.text.replaceAll(` ${noApproval}`, '')).toBe(text)
    }),
  )
})
