import { describe, expect, test } from 'vitest'
import { benches } from '../testing/with-bench.ts'

const setBench = benches()

test('TodoWrite takes a list and says where it stands', async () => {
  const bench = await setBench()
  const todos = [
    { content: 'Drain the queue', status: 'completed', activeForm: 'Draining' },
    { content: 'Write the test', status: 'in_progress' },
  ]
  expect(await bench.say('TodoWrite', { todos })).toBe('The list is saved: 1 of 2 done. Now: Write the test.')
  expect(await bench.say('TodoWrite', { todos: [{ content: '', status: 'done' }] })).toMatch(/^ERROR: Invalid input: /)
})

describe('plan mode', () => {
  test('is entered, asks with the plan, and asks before each edit when the person agrees', async () => {
    const bench = await setBench({ startMode: 'accept-edits' })
    expect(await bench.say('ExitPlanMode', { plan: 'x' })).toContain('ERROR: Plan mode is not on')
    await bench.say('EnterPlanMode', {})
    expect(bench.mode()).toBe('plan')
    expect(await bench.say('EnterPlanMode', {})).toBe('ERROR: Plan mode is on already.')
    const output = await bench.call('ExitPlanMode', { plan: '1. Look\n2. Leap' })
    expect(output).toEqual({
      content: 'The user agrees to the plan. Plan mode is off: carry it out.',
      details: { plan: '1. Look\n2. Leap' },
    })
    expect(bench.mode()).toBe('ask')
    expect(bench.asked).toEqual([
      {
        toolUseId: 'toolu_4',
        tool: 'ExitPlanMode',
        title: 'Leave plan mode and carry out this plan',
        detail: { type: 'markdown', text: '1. Look\n2. Leap' },
        offersEdits: true,
      },
    ])
  })

  test('ends in the mode that the person chose', async () => {
    const bench = await setBench({ startMode: 'ask', answer: () => ({ type: 'accept-edits' }) })
    await bench.say('EnterPlanMode', {})
    await bench.call('ExitPlanMode', { plan: 'x' })
    expect(bench.mode()).toBe('accept-edits')
  })

  test('ends in the mode "allow" only when it was on before, and says so', async () => {
    const bench = await setBench({ startMode: 'allow' })
    await bench.say('EnterPlanMode', {})
    await bench.call('ExitPlanMode', { plan: 'x' })
    expect(bench.mode()).toBe('allow')
    expect(bench.asked.at(-1)).toMatchObject({ tool: 'ExitPlanMode', offersEdits: false })
    bench.setMode('plan')
    await bench.call('ExitPlanMode', { plan: 'y' })
    expect(bench.mode()).toBe('ask')
  })

  test('stays on when there is nobody to agree', async () => {
    const bench = await setBench({ startMode: 'plan', answer: () => ({ type: 'deny', isUnattended: true }) })
    expect(await bench.say('ExitPlanMode', { plan: 'x' })).toBe(
      'ERROR: There was nobody to agree to the plan. Plan mode stays on: give the plan as your answer.',
    )
  })

  test('stays on when the person rejects the plan', async () => {
    const bench = await setBench({ startMode: 'plan', answer: () => ({ type: 'deny', reason: 'Mind the schema.' }) })
    expect(await bench.say('ExitPlanMode', { plan: 'x' })).toBe(
      'ERROR: The user rejected the plan. They said: Mind the schema. Plan mode stays on: change the plan and call ExitPlanMode again, or ask what is missing.',
    )
    expect(bench.mode()).toBe('plan')
  })
})

describe('AskUserQuestion', () => {
  const options = [{ label: 'Red', description: 'Warm' }, { label: 'Blue' }]
  const input = { questions: [{ question: 'Which color?', header: 'Color', options, multiSelect: true }] }

  test('returns what the person chose', async () => {
    const bench = await setBench({ answers: [['Red', 'a little green']] })
    expect(await bench.say('AskUserQuestion', input)).toBe('The user answered:\nWhich color?\n→ Red, a little green')
    expect(bench.questions).toEqual([[{ question: 'Which color?', options, isMultiple: true }]])
  })

  test('continues without an answer', async () => {
    const bench = await setBench()
    expect(await bench.say('AskUserQuestion', input)).toContain('The user did not answer.')
  })
})
