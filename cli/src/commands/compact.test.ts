import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startServer, summarizer } from '@everlong/simulator'
import { generatePiSession, generateWithTruth, session } from 'everlong/internal/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../testing/harness.ts'
import type { CompactReport } from './compact/report.ts'
import type { ContextReport } from './context/report.ts'

const folder = sessionFolder()
afterAll(folder.remove)

const { records } = generateWithTruth({ seed: 3, turns: 12, boundaries: 1, kept: 'after' })
const file = folder.write('session.jsonl', records)
const bytes = readFileSync(file, 'utf8')
const boundary = String(records.find(({ subtype }) => subtype === 'compact_boundary')?.uuid)

describe('everlong compact', () => {
  test('prints the new context, and leaves the file as it is', async () => {
    const { exitCode, stdout, stderr } = await everlong(['compact', file])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout.startsWith('[user]\nThis conversation continues from an earlier one')).toBe(true)
    expect(readFileSync(file, 'utf8')).toBe(bytes)
  })

  test('reports messages, tokens, mechanism, fidelity and what was tried', async () => {
    const made = await report<CompactReport>('compact', file)
    expect(made).toMatchObject({
      file,
      messages: [{ role: 'user' }],
      mechanism: 'offline',
      fidelity: { humanMessages: { total: expect.any(Number) } },
      tried: [{ mechanism: 'offline', outcome: 'done' }],
    })
    expect(made.tokens.after).toBeLessThan(made.tokens.before)
  })

  test('as of a boundary: what that compaction had, with what it kept, and no word of its summary', async () => {
    const made = await report<CompactReport>('compact', file, '--before', boundary)
    const said = JSON.stringify(made.messages)
    const summary = records.find(({ isCompactSummary }) => isCompactSummary === true)
    expect(made.before).toBe(boundary)
    expect(said).not.toContain(JSON.stringify(summary?.message).slice(30, 120))
    const recorded = await report<CompactReport>('compact', file, '--before', boundary, '--model', 'recorded')
    expect(recorded.mechanism).toBe('direct')
    expect(recorded.tokens.before).toBe(made.tokens.before)
  })

  test('without a terminal too, no control character of the session reaches the output, and tabs stay', async () => {
    const talk = session()
      .user('Show \u001b]0;owned\u0007 it\twith tabs\r\nand lines\u009b2J')
      .toolUse('t1', 'Bash', { command: 'cat \u001b[31mx' })
      .toolResult('t1', `\u001b[2Jwiped\r\n${'plain words '.repeat(2_000)}`)
      .assistant('done \u001b[31mred\u001b[0m')
    const { exitCode, stdout, stderr } = await everlong(['compact', folder.write('escapes.jsonl', talk.records)])
    expect([exitCode, stderr]).toEqual([0, ''])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
    expect(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.exec(stdout)).toBe(null)
    expect(stdout).toContain('it\twith tabs\nand lines')
  })

  test('within a budget, whatever it is', async () => {
    for (const budget of [200, 1_000, 3_000]) {
      const made = await report<CompactReport>('compact', file, '--budget', String(budget))
      expect(made.tokens.after).toBeLessThanOrEqual(budget)
    }
  })

  test('from and up to a message', async () => {
    const talk = session().user('first').assistant('a '.repeat(3_000)).user('second').assistant('b '.repeat(3_000))
    const path = folder.write('parts.jsonl', talk.records)
    const after = await report<CompactReport>('compact', path, '--up-to', 'u2')
    expect(after.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect({ kept: after.kept, summarized: after.summarized }).toEqual({ kept: 2, summarized: 2 })
    const before = await report<CompactReport>('compact', path, '--from', 'u2')
    expect(before.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(before.messages[0]).toEqual({ role: 'user', content: 'first' })
  })

  test('a dry run says what would be done, and does nothing', async () => {
    const { stdout, exitCode } = await everlong(['compact', file, '--dry-run', '--model', 'anthropic:claude-sonnet-5'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('attempts    direct, offline')
    expect(stdout).toContain('A dry run: no model was asked, nothing was written.')
  })

  test('writes the compacted session to a new file, which the other commands read, and overwrites nothing', async () => {
    const out = join(folder.path, 'out.jsonl')
    const made = await report<CompactReport>('compact', file, '--out', out)
    expect(made.out).toBe(out)
    expect(readFileSync(out, 'utf8').startsWith(bytes)).toBe(true)
    const again = await everlong(['compact', out, '--dry-run'])
    expect([again.exitCode, again.stdout]).toEqual([1, 'Not enough messages to compact.\n'])
    const inspected = await everlong(['inspect', out])
    expect([inspected.exitCode, inspected.stdout.includes('Problems  no errors')]).toEqual([0, true])
    const second = await everlong(['compact', file, '--out', out])
    expect([second.exitCode, second.stderr.includes('exists and is not overwritten')]).toEqual([1, true])
  })

  test.each([
    ['compact', []],
    ['compact', ['--dry-run']],
    ['micro', ['--apply', '--always', '--target', '1', '--least', '1']],
  ])('DISABLE_COMPACT: %s %j does nothing and says why', async (command, words) => {
    const { exitCode, stdout, stderr } = await everlong([command, file, ...words], { env: { DISABLE_COMPACT: '1' } })
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain('Compaction is off: DISABLE_COMPACT. Unset it')
    expect(readFileSync(file, 'utf8')).toBe(bytes)
  })

  test('--append adds the compaction to the session, which continues from it, and undo takes it back', async () => {
    const own = folder.write('appended.jsonl', records)
    const plain = await report<CompactReport>('compact', own)
    expect(plain.size.before).toBe((await report<ContextReport>('context', own)).size.tokens)
    const { exitCode, stdout, stderr } = await everlong(['compact', own, '--append'])
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`To take it back: everlong undo ${own}`)
    const after = readFileSync(own, 'utf8')
    expect(after.startsWith(bytes)).toBe(true)
    const added = after
      .slice(bytes.length)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(added.map(({ type, subtype }) => subtype ?? type).slice(0, 2)).toEqual(['compact_boundary', 'user'])
    const { preTokens, postTokens } = added[0].compactMetadata
    expect([preTokens, postTokens]).toEqual([plain.size.before, plain.size.after])
    expect((await report<ContextReport>('context', own)).size.tokens).toBe(postTokens)
    expect(JSON.stringify(plain.messages)).toContain(added[1].message.content.slice(0, 100).replaceAll('\n', '\\n'))
    await report('undo', own)
    expect((await report<CompactReport>('compact', own)).tokens.before).toBe(plain.tokens.before)
  })

  test('--append writes nothing to a session that continued while its compaction was made', async () => {
    const own = folder.write('went-on.jsonl', records)
    const parentUuid = String(records.findLast(({ uuid }) => typeof uuid === 'string')?.uuid)
    const message = { role: 'user', content: 'One more thing.' }
    const line = `${JSON.stringify({ type: 'user', uuid: 'late', parentUuid, message })}\n`
    let isLate = false
    // The compaction asks for the time after the session was read.
    const now = () => {
      if (!isLate) appendFileSync(own, line)
      isLate = true
      return 0
    }
    const { exitCode, stderr } = await everlong(['compact', own, '--append'], { now })
    expect([exitCode, stderr]).toEqual([
      1,
      'everlong: nothing was written. The session went on meanwhile. Try again.\n',
    ])
    expect(readFileSync(own, 'utf8')).toBe(`${bytes}${line}`)
    expect((await everlong(['compact', own, '--append'])).exitCode).toBe(0)
  })

  test('--append says when a session is free whose writer may have crashed in another container', async () => {
    const own = folder.write('held.jsonl', records)
    const bytes = readFileSync(own, 'utf8')
    const [acquiredAt, expiresAt] = [-1_000, 29_000].map((ms) => new Date(Date.now() + ms).toISOString())
    const lock = { owner: 'the agent', pid: 12, host: 'container-1', token: 'one', acquiredAt, expiresAt }
    writeFileSync(`${own}.lock`, JSON.stringify(lock))
    const { exitCode, stderr } = await everlong(['compact', own, '--append'])
    expect(exitCode).toBe(1)
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /is being written by the agent \(process 12 on container-1, since \S+\)\. .* if it has ended, the session is free in 4\d s\./,
    )
    expect(readFileSync(own, 'utf8')).toBe(bytes)
  })

  test('a session of pi gets a compaction entry of pi, appended or in a copy', async () => {
    const talk = generatePiSession({ seed: 5, turns: 8, compactions: 0 }).records
    const own = folder.write('pi.jsonl', talk)
    const before = readFileSync(own, 'utf8')
    const out = join(folder.path, 'pi-copy.jsonl')
    const keep = String(talk.findLast(({ message }) => (message as { role?: string } | undefined)?.role === 'user')?.id)
    const made = await report<CompactReport>('compact', own, '--up-to', keep, '--out', out)
    const ran = await everlong(['compact', own, '--up-to', keep, '--append'])
    expect([ran.exitCode, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toContain('To take it back: /tree in pi')
    for (const path of [own, out]) {
      const after = readFileSync(path, 'utf8')
      expect(after.startsWith(before)).toBe(true)
      const added = after
        .slice(before.length)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(added).toEqual([
        {
          type: 'compaction',
          id: expect.any(String),
          parentId: talk.at(-1)?.id,
          timestamp: expect.any(String),
          summary: expect.stringContaining('This conversation continues from an earlier one'),
          firstKeptEntryId: keep,
          tokensBefore: expect.any(Number),
          details: { everlong: expect.anything() },
          fromHook: true,
        },
      ])
    }
    const { tokens } = await report<CompactReport>('compact', own, '--dry-run')
    expect(tokens.before).toBeLessThan(made.tokens.before)
  })

  test('what pi could not read is not written', async () => {
    const complaint = async (version: 1 | 3, ...words: readonly string[]) => {
      const talk = generatePiSession({ seed: 5, turns: 8, compactions: 0, version }).records
      const own = folder.write(`pi-${version}.jsonl`, talk)
      const { exitCode, stderr } = await everlong(['compact', own, '--append', ...words])
      expect(readFileSync(own, 'utf8').trimEnd().split('\n')).toHaveLength(talk.length)
      return [exitCode, stderr.trim()]
    }
    const newest = String(generatePiSession({ seed: 5, turns: 8, compactions: 0 }).records.at(-6)?.id)
    expect(await complaint(1)).toEqual([1, expect.stringContaining('old format of pi')])
    expect(await complaint(3, '--from', newest)).toEqual([1, expect.stringContaining('--up-to')])
  })

  test('--append and --out exclude each other', async () => {
    const { exitCode, stderr } = await everlong(['compact', file, '--append', '--out', 'x.jsonl'])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('cannot be used with')])
  })

  test('asks a model over HTTP', async () => {
    const server = await startServer({ script: summarizer(), port: 0 })
    const url = `http://127.0.0.1:${server.port}`
    try {
      const env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'key' }
      const ran = await everlong(['compact', file, '--json', '--model', 'anthropic:claude-sonnet-5'], { env })
      expect(JSON.parse(ran.stdout)).toMatchObject({ mechanism: 'direct', model: 'claude-sonnet-5' })
      const chat = await everlong(['compact', file, '--json', '--model', `openai:claude-sonnet-5@${url}/v1`])
      expect(JSON.parse(chat.stdout)).toMatchObject({ mechanism: 'direct' })
    } finally {
      await server.close()
    }
  })

  test('says what is wrong with what it was asked', async () => {
    const complaint = async (...words: readonly string[]) => {
      const { exitCode, stderr } = await everlong(['compact', ...words])
      return [exitCode, stderr.trim()]
    }
    expect(await complaint(file, '--before', 'nowhere')).toEqual([
      1,
      `everlong: no entry of ${file} has the uuid nowhere. See everlong inspect --tree and --epochs.`,
    ])
    expect(await complaint(file, '--model', 'gpt')).toEqual([
      2,
      "everlong: option '--model <model>' argument 'gpt' is invalid. Give offline, recorded, anthropic:MODEL or openai:MODEL[@URL]. See everlong compact --help.",
    ])
    expect(await complaint(file, '--model', 'recorded')).toEqual([
      1,
      'everlong: there is no recorded summary. Name a compaction with --before and the uuid of its boundary.',
    ])
    expect(await complaint(file, '--from', 'a', '--up-to', 'b')).toEqual([
      2,
      "everlong: option '--from <uuid>' cannot be used with option '--up-to <uuid>'. See everlong compact --help.",
    ])
    const short = folder.write('short.jsonl', session().user('hello').records)
    expect(await complaint(short)).toEqual([
      1,
      'everlong: nothing was compacted (nothing-to-compact): Not enough messages to compact.',
    ])
    const { failed } = JSON.parse((await everlong(['compact', short, '--json'])).stdout)
    expect(failed).toEqual({ reason: 'nothing-to-compact', why: 'Not enough messages to compact.' })
    expect(existsSync(join(folder.path, 'nothing'))).toBe(false)
  })
})
