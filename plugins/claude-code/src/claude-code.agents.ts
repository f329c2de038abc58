// The plug-in in the real Claude Code, without a person and without a network: the model is the simulator, the home folder
// is new. `npm run test:agents` installs Claude Code and runs this.
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningServer, type Script, type ScriptRequest, startServer, text, toolUse } from '@everlong/simulator'
import { blocksOf, isToolResult, textOf } from 'everlong/internal'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentCommand, everythingIn, root, searchPath } from '../../testing/agent.ts'
import { resultsIn, rule, wish } from '../../testing/headless.ts'

const claude = agentCommand('claude') ?? ''
const folder = mkdtempSync(join(tmpdir(), 'everlong-claude-code-'))
const forgetful = '1. The reports were read, and the user approved the release.'

const requests: ScriptRequest[] = []
let server: RunningServer

/** Forgets everything when it summarizes, and calls a tool on request. */
const script: Script = (request) => {
  requests.push(request)
  const last = textOf(request.messages.findLast(({ role }) => role === 'user')?.content)
  if (last.includes('<analysis>')) return text(`<analysis>x</analysis><summary>${forgetful}</summary>`)
  const hasCalled = blocksOf(request.messages.at(-1)?.content).some(isToolResult)
  const search = request.tools.find(({ name }) => name.endsWith('everlong__search'))
  if (last.includes('Look it up') && search && !hasCalled) return toolUse(search.name, { query: 'column total' })
  if (last.includes('Count them') && !hasCalled) return toolUse('Bash', { command: 'seq 1 4000', description: 'count' })
  const read = request.tools.find(({ name }) => name.endsWith('everlong__read'))
  const id = /everlong read tool reads it as (\w+)/.exec(resultsIn([request]))?.[1]
  if (last.includes('Read it') && read && id && !hasCalled) return toolUse(read.name, { id })
  return text('Done.')
}

beforeAll(async () => {
  server = await startServer({ script, port: 0 })
})
afterAll(async () => {
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const sinceLast = () => requests.splice(0)
const said = (request: ScriptRequest | undefined) => request?.messages.map(({ content }) => textOf(content)).join('\n')

/** A person's home folder and a project, with settings and a skill of their own. */
function createPerson(name: string, more: Readonly<Record<string, string>> = {}) {
  const home = join(folder, name)
  const project = join(folder, `${name}-project`)
  mkdirSync(join(home, '.claude/skills/mine'), { recursive: true })
  mkdirSync(project)
  writeFileSync(join(home, '.claude/settings.json'), '{\n\t"cleanupPeriodDays":  99\n}')
  writeFileSync(join(home, '.claude/skills/mine/SKILL.md'), '---\ndescription: mine\n---\nMine.\n')
  const env = {
    ...{ PATH: searchPath, HOME: home, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'none' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1', ENABLE_TOOL_SEARCH: 'false' },
    ...more,
  }
  const run = async (words: readonly string[]): Promise<string> => {
    const running = promisify(execFile)(claude, words, { cwd: project, env, timeout: 120_000 })
    running.child.stdin?.end()
    return (await running).stdout
  }
  return {
    ...{ home, project, run },
    say: (prompt: string, ...options: readonly string[]) =>
      run(['-p', prompt, '--dangerously-skip-permissions', ...options]),
    everlong: (...words: readonly string[]) =>
      spawnSync(process.execPath, [join(root, 'cli/src/main.ts'), ...words], { env, encoding: 'utf8' }),
    transcript: () => globSync(join(home, '.claude/projects/*/*.jsonl'))[0] ?? '',
  }
}
type Person = ReturnType<typeof createPerson>

/** Claude Code's output for the first prompt after the compaction. */
async function talk({ say }: Person): Promise<string> {
  await say(`Read the reports. ${rule}`)
  await say(wish, '--continue')
  await say('/compact', '--continue')
  const shown = await say('Go on.', '--continue', '--output-format', 'stream-json', '--verbose')
  await say('Look it up.', '--continue')
  return shown
}

/** Names of files, without parts that differ between runs. */
function namesIn(home: string): readonly string[] {
  const names = [...everythingIn(home).keys()].map((name) =>
    name.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d-]+Z|\d{6,}/g, '…').replace(basename(home), ''),
  )
  // Claude Code writes it at some later time.
  return [...new Set(names)].filter((name) => name !== '.claude/.last-cleanup').toSorted()
}

const inClaudeCode = test.skipIf(!claude)

inClaudeCode('installed, used and removed: what was lost comes back, and no trace is left', async () => {
  const person = createPerson('one')
  const before = everythingIn(person.home)
  expect(person.everlong('install', 'claude-code')).toMatchObject({ status: 0, stderr: '' })
  sinceLast()
  const shown = await talk(person)
  const all = sinceLast()

  const compaction = all.find((request) => said(request)?.includes('<analysis>'))
  expect(said(compaction)).toContain('Write down word for word what the user asked')

  const next = all.find((request) => said(request)?.includes('Go on.'))
  const context = said(next) ?? ''
  expect(context).toContain(forgetful)
  expect(context).toContain(`SessionStart hook additional context: What the user asked for once and for all`)
  expect(context).toContain(`- "${rule}"`)
  expect(context).toContain('This session was compacted. The summary leaves out what follows')
  expect(context).toContain(wish)
  expect(context).toMatch(/approved/)

  const [, given = ''] = context.split('This session was compacted.')
  const items = given.split('</system-reminder>')[0]?.match(/^- /gm)?.length ?? 0
  expect(shown).toContain(
    `UserPromptSubmit says: Everlong gave back 1 rule and ${items - 1} facts; 1 doubtful claim: /everlong:lost`,
  )
  // Claude Code writes its output after /compact here, with the output of hooks.
  const compacted = readFileSync(person.transcript(), 'utf8')
  expect(compacted).toMatch(/<local-command-stdout>[^<]*Compacted/)
  expect(compacted).not.toContain('completed successfully')

  expect(resultsIn(all)).toContain(wish)
  expect(processesOf(person.home)).toEqual([])
  expect(readdirSync(person.project)).toEqual([])

  expect(person.everlong('uninstall', 'claude-code')).toMatchObject({ status: 0, stderr: '' })
  const after = everythingIn(person.home)
  for (const [name, content] of before) expect([name, after.get(name)]).toEqual([name, content])
  expect([...after.keys()].filter((name) => /everlong(?!-claude-code)/i.test(name))).toEqual([])

  const other = createPerson('two')
  await talk(other)
  expect(namesIn(person.home)).toEqual(namesIn(other.home))
})

inClaudeCode('/everlong:compact, and resuming from it; undo, and resuming from before', async () => {
  const person = createPerson('commands')
  person.everlong('install', 'claude-code')
  await person.say(`Read the reports. ${rule}`)
  await person.say(wish, '--continue')
  sinceLast()
  expect(await person.say('/everlong:context', '--continue')).toContain('By kind')
  expect(await person.say('/everlong:lost', '--continue')).toBe(
    'everlong: \nNothing was lost: this session was never compacted.\n',
  )
  expect(await person.say('/everlong:compact', '--continue')).toContain('claude --resume')
  // No request was made for any of these.
  expect(sinceLast()).toEqual([])
  const session = basename(person.transcript(), '.jsonl')
  const copy = readFileSync(person.transcript())

  await person.say('Go on.', '--resume', session)
  const [resumed] = sinceLast().filter((request) => said(request)?.includes('Go on.'))
  expect(said(resumed)).toContain('This conversation continues from an earlier one')
  expect(said(resumed)).toContain(rule)
  expect(resumed?.messages.some(({ content }) => textOf(content) === wish)).toBe(false)

  writeFileSync(person.transcript(), copy)
  expect(await person.say('/everlong:undo', '--continue')).toContain('will be taken back')
  await person.say('Go on.', '--resume', session)
  const [undone] = sinceLast().filter((request) => said(request)?.includes('Go on.'))
  expect(said(undone)).not.toContain('This conversation continues from an earlier one')
  expect(said(undone)).toContain(wish)
  expect(processesOf(person.home)).toEqual([])
})

inClaudeCode('where Claude Code runs no hooks modules, the hook answers the commands', async () => {
  const person = createPerson('older')
  person.everlong('install', 'claude-code')
  const hooks = join(person.home, '.claude/skills/everlong/hooks/hooks.json')
  const { modules, ...older } = JSON.parse(readFileSync(hooks, 'utf8'))
  expect(modules).toEqual(['../dist/hooks-module.js'])
  writeFileSync(hooks, JSON.stringify(older))
  await person.say(`Read the reports. ${rule}`)
  sinceLast()
  const lost = await person.say('/everlong:lost', '--continue')
  expect(lost).toContain('operation blocked by hook:\nEverlong answered. Nothing was sent to the model.')
  expect(lost).toContain('this session was never compacted')
  expect(lost).not.toContain('Original prompt')
  expect(sinceLast()).toEqual([])
})

inClaudeCode('answers of the commands are not in the next request', async () => {
  const person = createPerson('shown')
  person.everlong('install', 'claude-code')
  await person.say(`Read the reports. ${rule}`)
  await person.say('/everlong:lost', '--continue')
  sinceLast()
  await person.say('Go on.', '--continue')
  const [next] = sinceLast()
  expect(said(next)).toContain('Go on.')
  expect(said(next)).not.toContain('never compacted')
})

inClaudeCode('a session compacted by the command line resumes from its summary', async () => {
  const person = createPerson('resumed')
  await person.say(`Read the reports. ${rule}`)
  await person.say(wish, '--continue')
  sinceLast()
  expect(person.everlong('compact', person.transcript(), '--append')).toMatchObject({ status: 0, stderr: '' })
  await person.say('Go on.', '--resume', basename(person.transcript(), '.jsonl'))
  const [resumed] = sinceLast().filter((request) => said(request)?.includes('Go on.'))
  expect(said(resumed)).toContain('This conversation continues from an earlier one')
  expect(said(resumed)).toContain(rule)
  expect(resumed?.messages.some(({ content }) => textOf(content) === wish)).toBe(false)
})

inClaudeCode(
  'when Claude Code compacts by itself, the next request has the rules, and the one after it the rest',
  async () => {
    const small = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '100000', CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '30' }
    const person = createPerson('full', small)
    person.everlong('install', 'claude-code')
    await person.say(`Read the reports. ${rule}`)
    await person.say(`${wish} ${'The report says that the total is in cents. '.repeat(1_600)}`, '--continue')
    sinceLast()
    await person.say('Go on.', '--continue')
    const all = sinceLast()
    const at = all.findIndex((request) => said(request)?.includes('<analysis>'))
    const next = said(all[at + 1])
    expect([at >= 0, next?.includes(forgetful), next?.includes(`- "${rule}"`)]).toEqual([true, true, true])
    await person.say('And now?', '--continue')
    expect(said(sinceLast()[0])?.includes('The summary leaves out what follows')).toBe(true)
    expect(processesOf(person.home)).toEqual([])
  },
)

inClaudeCode('asked to, long results are stored whole and shortened, and the agent reads the whole one', async () => {
  const person = createPerson('short', { EVERLONG_SHORTEN_RESULTS: '4000' })
  person.everlong('install', 'claude-code')
  sinceLast()
  await person.say('Count them.')
  const short = resultsIn(sinceLast())
  expect(short).toContain('characters left out here')
  expect(short).not.toContain('\\n2000\\n')
  const [stored = ''] = globSync(join(person.home, '.claude/projects/*/*/tool-results/*.txt'))
  expect(readFileSync(stored, 'utf8').split('\n').slice(0, 4_000)).toHaveLength(4_000)
  await person.say('Read it.', '--continue')
  expect(resultsIn(sinceLast())).toMatch(/1500\\+n1501/)
})

inClaudeCode('the plug-in passes the checks of the plug-in directory', async () => {
  const person = createPerson('directory')
  const plugin = join(folder, 'plugin')
  cpSync(join(root, 'plugins/claude-code'), plugin, { recursive: true })
  const output = await person.run(['plugin', 'validate', plugin, '--profile', 'directory'])
  expect(output).toContain('Validation passed')
})

/** Loading the engine takes longer than everything else in a hook. */
test.each(['UserPromptSubmit', 'PostToolBatch', 'PostToolUse', 'SessionEnd'])(
  '%s does not load the engine',
  (event) => {
    const alone = mkdtempSync(join(folder, 'alone-'))
    cpSync(join(root, 'plugins/claude-code/dist/everlong.js'), join(alone, 'everlong.mjs'))
    const input = JSON.stringify({
      hook_event_name: event,
      session_id: 's1',
      transcript_path: join(alone, 'everlong.mjs'),
    })
    const run = spawnSync(process.execPath, [join(alone, 'everlong.mjs'), 'hook', join(alone, 'data')], {
      ...{ input, encoding: 'utf8', env: { CLAUDE_PLUGIN_DATA: join(alone, 'data') } },
    })
    expect([run.status, run.stderr]).toEqual([0, ''])
  },
)

/** Processes that still run with this home folder in their command line. */
function processesOf(home: string): readonly string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.includes(home))
}
