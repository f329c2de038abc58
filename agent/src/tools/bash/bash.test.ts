import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { interrupted, runTools } from '../../run-tools.ts'
import { until } from '../../testing/over-http.ts'
import { benches } from '../../testing/with-bench.ts'

const setBench = benches()
const allow = { permissions: { allow: ['Bash'] } }

/** Zombies do not run. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'))
}

describe('a command', () => {
  test('runs in the workspace after asking, and returns what it says', async () => {
    const bench = await setBench()
    const output = await bench.call('Bash', { command: 'pwd; (echo no >&2)', description: 'Where are we' })
    expect(output).toEqual({ content: `${bench.folder}\nno`, details: { exitCode: 0, interrupted: false } })
    expect(bench.asked).toEqual([
      {
        toolUseId: 'toolu_1',
        tool: 'Bash',
        title: 'Run pwd; (echo no >&2)',
        detail: { type: 'text', text: 'pwd; (echo no >&2)\n\n# Where are we' },
        rules: ['Bash(pwd; (echo no >&2))'],
      },
    ])
  })

  test('that fails is an error with its exit code and output', async () => {
    const bench = await setBench(allow)
    expect(await bench.say('Bash', { command: 'echo bad; exit 3' })).toBe('ERROR: Exit code 3\nbad')
    expect(await bench.say('Bash', { command: 'true' })).toBe('(no output)')
    expect(await bench.say('Bash', { command: 'no-such-program-here' })).toContain('ERROR: Exit code 127')
    expect(await bench.say('Bash', { command: 'echo \u0000' })).toContain('ERROR: The command could not be started')
  })

  test('has no input to wait for, no colors, and of a progress bar only the end', async () => {
    const bench = await setBench(allow)
    expect(await bench.say('Bash', { command: 'cat' })).toBe('(no output)')
    expect(await bench.say('Bash', { command: `printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n'` })).toBe('red\n100%')
  })

  test('does not get the keys of model providers, and no known secret comes out', async () => {
    const environment = {
      PATH: process.env.PATH,
      ANTHROPIC_API_KEY: 'sk-ant-0123456789',
      GITHUB_TOKEN: 'ghp_0123456789',
      EDITOR: 'vi',
    }
    const bench = await setBench({ ...allow, environment })
    expect(await bench.say('Bash', { command: 'echo "$ANTHROPIC_API_KEY|$GITHUB_TOKEN|$EDITOR"' })).toBe(
      '|[redacted: GITHUB_TOKEN]|vi',
    )
    // A secret that arrives in two pieces is still one.
    expect(await bench.say('Bash', { command: 'printf ghp_01; sleep 0.2; echo 23456789' })).toBe(
      '[redacted: GITHUB_TOKEN]',
    )
  })
})

describe('a running command', () => {
  const outputOf = (bench: Awaited<ReturnType<typeof setBench>>) =>
    bench.events.flatMap((event) => (event.type === 'tool-output' ? [event] : []))

  test('shows its newest lines while it runs, without secrets, and nothing after its end', async () => {
    const environment = { PATH: process.env.PATH, GITHUB_TOKEN: 'ghp_0123456789' }
    const bench = await setBench({ ...allow, environment })
    const waits = 'while [ ! -e go ]; do sleep 0.02; done'
    const command = `echo $GITHUB_TOKEN; echo one; ${waits}; seq 1 100; while [ ! -e end ]; do sleep 0.02; done; echo end`
    const running = bench.call('Bash', { command })
    await until(() => outputOf(bench).length > 0)
    const shownAs = (lines: readonly string[], total: number) => ({
      type: 'tool-output',
      toolUseId: 'toolu_1',
      lines,
      total,
    })
    expect(outputOf(bench)).toEqual([shownAs(['[redacted: GITHUB_TOKEN]', 'one'], 2)])
    bench.write('go', '')
    await until(() => outputOf(bench).at(-1)?.total === 102)
    expect(outputOf(bench).at(-1)).toEqual(shownAs(['96', '97', '98', '99', '100'], 102))
    bench.write('end', '')
    await running
    const shown = outputOf(bench).length
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(outputOf(bench)).toHaveLength(shown)
  })

  test('shows nothing in the background, where nobody waits for it', async () => {
    const bench = await setBench(allow)
    await bench.call('Bash', { command: 'seq 1 3; sleep 0.5', run_in_background: true })
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(outputOf(bench)).toEqual([])
  })
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

describe('the end of a command', () => {
  test('comes after its timeout, for everything that it started', async () => {
    const bench = await setBench(allow)
    const command = 'echo begun; sleep 60 & echo $! > pid; sleep 60'
    expect(await bench.say('Bash', { command, timeout: 300 })).toBe(
      'ERROR: The command was stopped: it ran longer than 0.3 s. Output until then:\nbegun',
    )
    expect(isAlive(Number(bench.read('pid')))).toBe(false)
  })

  test('comes with an abort, even for one that ignores requests to stop', async () => {
    const bench = await setBench(allow)
    const controller = new AbortController()
    const command = `trap '' TERM; echo $$ > pid; while true; do sleep 0.1; done`
    const running = bench.call('Bash', { command }, controller.signal)
    await until(() => existsSync(join(bench.folder, 'pid')) && bench.read('pid') !== '')
    controller.abort()
    expect(await running).toMatchObject({ isError: true, details: { interrupted: true } })
    expect(isAlive(Number(bench.read('pid')))).toBe(false)
  })

  test('comes with an interrupt, and the model gets what was printed until then', async () => {
    const { tools, session, folder } = await setBench(allow)
    const { signal, abort } = abortable()
    const calls = [
      { type: 'tool_use' as const, id: 't1', name: 'Bash', input: { command: 'echo begun; touch ready; sleep 60' } },
    ]
    const running = runTools({ session, tools: tools.tools, calls, signal, emit: () => undefined })
    await until(() => existsSync(join(folder, 'ready')))
    abort()
    const content = 'The command was stopped by the user. Output until then:\nbegun'
    expect(await running).toMatchObject([{ block: { content, is_error: true } }])
  })

  test('an interrupt while the person is asked runs nothing, and is called one', async () => {
    const { signal, abort } = abortable()
    const answer = async () => {
      abort()
      return { type: 'allow' } as const
    }
    const { call, folder } = await setBench({ answer })
    expect(await call('Bash', { command: 'touch ran' }, signal)).toEqual({ content: interrupted, isError: true })
    expect(existsSync(join(folder, 'ran'))).toBe(false)
  })

  test('is the end of what it left running, and that is reported', async () => {
    const bench = await setBench(allow)
    const text = await bench.say('Bash', { command: 'sleep 60 & echo $! > pid; echo done' })
    expect(text).toBe('done\n[Processes that it left running were ended. Use run_in_background to keep one.]')
    expect(isAlive(Number(bench.read('pid')))).toBe(false)
  })
})

describe('a long output', () => {
  test('is in a file; the result keeps its start, its end, the exit code and lines that look like errors', async () => {
    const bench = await setBench({ ...allow, isOnDisk: true })
    const command = `for i in $(seq 1 9000); do echo "line number $i"; [ $i = 5000 ] && echo "TypeError: x is not a function"; done; exit 2`
    const text = await bench.say('Bash', { command })
    const path = join(bench.outside, 'session', 'output', 'toolu_1.txt')
    const [first, note, ...rest] = text.split('\n')
    expect(first).toBe('ERROR: Exit code 2')
    expect(note).toBe(
      `[151,924 characters in 9,001 lines. The whole output is in ${path}: search it with Grep or read a part with Read.]`,
    )
    expect(rest[0]).toBe('line number 1')
    expect(rest.at(-1)).toBe('line number 9000')
    expect(rest).toContain('5001: TypeError: x is not a function')
    expect(text.length).toBeLessThan(16_000)
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(9_002)
    expect(statSync(path).mode & 0o077).toBe(0)
    // It is outside the workspace, but ours: reading it does not ask.
    expect(await bench.say('Read', { file_path: path, offset: 5_001, limit: 1 })).toContain('5001\tTypeError: x is not')
    expect(await bench.say('Grep', { pattern: 'TypeError', path, output_mode: 'count' })).toBe(`${path}:1`)
    expect(bench.asked).toEqual([])
  })

  test('that cannot be stored is still shown', async () => {
    const bench = await setBench({ ...allow, isOnDisk: true })
    mkdirSync(join(bench.outside, 'session'), { recursive: true })
    writeFileSync(join(bench.outside, 'session', 'output'), 'a file in the way')
    const text = await bench.say('Bash', { command: 'seq 1 9000' })
    expect(text).toMatch(/^\[43,893 characters in 9,000 lines\. The whole output could not be stored: .*\]\n1\n2\n/)
    expect(text.endsWith('\n9000')).toBe(true)
  })

  test('without an end stops the command', async () => {
    const bench = await setBench(allow)
    const text = await bench.say('Bash', {
      command: 'yes "a rather long line that fills the file sooner, over and over"',
    })
    expect(text.startsWith('ERROR: The command was stopped: its output was too long.')).toBe(true)
  }, 60_000)
})

describe('in the background', () => {
  const idIn = (text: string) => /bash_[0-9a-f]{8}/.exec(text)?.[0] ?? ''

  test('a command continues, is read piece by piece, and its end is told', async () => {
    let changes = 0
    const lines: string[] = []
    const bench = await setBench({
      ...allow,
      onTaskEnded: (line) => lines.push(line),
      onTasks: () => {
        changes++
      },
    })
    const command = 'echo one; while [ ! -e go ]; do sleep 0.05; done; echo two'
    const id = idIn(await bench.say('Bash', { command, run_in_background: true, description: 'Waits' }))
    expect(bench.tools.tasks.list()).toEqual([{ id, title: 'Waits', isRunning: true }])
    await expect
      .poll(() => bench.say('TaskOutput', { task_id: id }), { timeout: 20_000 })
      .toBe(`Task ${id}: running.\none`)
    bench.write('go', '')
    expect(await bench.say('TaskOutput', { task_id: id, block: true })).toBe(
      `Task ${id}: finished with exit code 0.\ntwo`,
    )
    expect(bench.tools.tasks.list()).toEqual([{ id, title: 'Waits', isRunning: false }])
    expect(changes).toBe(2)
    expect(lines).toEqual(['The background task "Waits" has finished with exit code 0.'])
    expect(JSON.stringify(bench.session.messages().at(-1))).toContain(`<task-id>${id}</task-id>`)
  })

  test('a command in the foreground continues there when the person says so', async () => {
    const bench = await setBench(allow)
    const command = 'echo one; while [ ! -e go ]; do sleep 0.05; done; echo two'
    expect(bench.tools.tasks.moveAll()).toBe(0)
    const stop = new AbortController()
    const called = bench.call('Bash', { command, timeout: 2_000 }, stop.signal)
    await until(() => bench.events.some((event) => event.type === 'tool-output'))
    expect(bench.tools.tasks.moveAll()).toBe(1)
    const { content } = await called
    const id = idIn(String(content))
    expect(content).toBe(
      `The user sent this command to the background as ${id}. It still runs. You are told when it ends. TaskOutput returns its output, TaskStop ends it. Output until now:\none`,
    )
    // Neither the end of the turn nor the time limit stops it now, and it cannot be moved twice.
    stop.abort()
    expect(bench.tools.tasks.moveAll()).toBe(0)
    const shown = bench.events.length
    await new Promise((resolve) => setTimeout(resolve, 2_200))
    expect(bench.tools.tasks.list()).toEqual([
      { id, title: 'echo one; while [ ! -e go ]; do sleep 0.05; done; echo two', isRunning: true },
    ])
    bench.write('go', '')
    expect(await bench.say('TaskOutput', { task_id: id, block: true })).toBe(
      `Task ${id}: finished with exit code 0.\ntwo`,
    )
    expect(bench.tools.tasks.find(id)?.recent()).toEqual(['one', 'two'])
    expect(bench.events.length).toBe(shown)
  })

  test('what the person runs has no time limit and asks nothing, and can go to the background too', async () => {
    const bench = await setBench({ answer: () => ({ type: 'deny' }) })
    const signal = new AbortController().signal
    const context = { session: bench.session, signal, toolUseId: 'person_1', emit: () => undefined }
    expect(await bench.tools.runForPerson('echo hi; exit 4', context)).toEqual({
      content: 'Exit code 4\nhi',
      isError: true,
      details: { exitCode: 4, interrupted: false },
    })
    // A finished command cannot be moved.
    expect(bench.tools.tasks.moveAll()).toBe(0)
    const running = bench.tools.runForPerson('sleep 60', context)
    bench.tools.tasks.moveAll()
    const id = idIn(String((await running).content))
    await bench.tools.tasks.find(id)?.stop()
    expect(bench.tools.tasks.list()).toEqual([{ id, title: 'sleep 60', isRunning: false }])
    expect(bench.asked).toEqual([])
  })

  test('a command is stopped on demand, and at the latest with the tools', async () => {
    const bench = await setBench(allow)
    const start = async (name: string) =>
      idIn(await bench.say('Bash', { command: `echo $$ > ${name}; exec sleep 60`, run_in_background: true }))
    const pidOf = async (name: string) => {
      await until(() => existsSync(join(bench.folder, name)) && bench.read(name) !== '')
      return Number(bench.read(name))
    }
    const first = await start('a')
    await start('b')
    const [a, b] = [await pidOf('a'), await pidOf('b')]
    expect(await bench.say('TaskStop', { task_id: first })).toContain(`Stopped task ${first}`)
    expect([isAlive(a), isAlive(b)]).toEqual([false, true])
    expect(await bench.say('TaskStop', { task_id: first })).toContain('has already')
    expect(await bench.say('TaskStop', { task_id: 'x' })).toContain('ERROR: There is no background task x. Known: ')
    await bench.tools.close()
    expect(isAlive(b)).toBe(false)
  })
})
