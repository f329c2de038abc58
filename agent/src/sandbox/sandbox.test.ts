// Commands in the real sandbox: what still works, what is closed, and who is asked.
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { PermissionAnswer } from '../app.ts'
import { closedFolder, whyNoSandbox } from '../testing/sandbox.ts'
import type { Bench, BenchOptions } from '../testing/tool-bench.ts'
import { benches } from '../testing/with-bench.ts'

const why = await whyNoSandbox()
if (why !== undefined) console.log(`The tests of the sandbox are skipped: ${why}.`)

vi.setConfig({ testTimeout: 120_000 })
const set = benches()
const environment = { PATH: process.env.PATH, HOME: process.env.HOME, GITHUB_TOKEN: 'ghp_0123456789' }

function setBench(options: BenchOptions = {}): Promise<Bench> {
  const answer = (): PermissionAnswer => ({ type: 'deny' })
  return set({ base: closedFolder(), sandbox: { mode: 'on' }, environment, answer, ...options })
}

function git(bench: Bench, ...words: readonly string[]): string {
  const person = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
  return execFileSync('git', [...person, ...words], { cwd: bench.folder, encoding: 'utf8' })
}

const run = (bench: Bench, command: string) => bench.say('Bash', { command })

describe.skipIf(why !== undefined)('what works in the sandbox, without a question', () => {
  test('exit codes, output, folders, temporary files', async () => {
    const bench = await setBench()
    bench.write('src/a.txt', 'hello\n')
    expect(await run(bench, 'cat src/a.txt; exit 7')).toBe('ERROR: Exit code 7\nhello')
    expect(await run(bench, 'kill -KILL $$')).toBe('ERROR: Exit code 137\n(no output)')
    expect(await run(bench, 'no-such-program')).toContain('ERROR: Exit code 127\n')
    expect(await run(bench, 'cd src && pwd && echo new > b.txt')).toBe(join(bench.folder, 'src'))
    expect(await run(bench, 'pwd')).toBe(bench.folder)
    expect(bench.read('src/b.txt')).toBe('new\n')
    const file = await run(bench, 'f=$(mktemp) && echo kept > $f && echo $f')
    expect(await run(bench, `cat ${file}; rm ${file}`)).toBe('kept')
    expect(bench.asked).toEqual([])
  })

  test('git: status and commit, and a status that shows nothing of the sandbox', async () => {
    const bench = await setBench()
    bench.write('a.txt', 'one\n')
    bench.write('.env', 'KEY=topsecret\n')
    bench.write('.gitignore', '.env\n')
    git(bench, 'init', '-q')
    expect(await run(bench, 'git status --short')).toBe('?? .gitignore\n?? a.txt')
    const commit =
      'git add -A && git -c user.name=A -c user.email=a@example.com commit -qm "One" && git log --format=%s'
    expect(await run(bench, commit)).toBe('One')
    expect(await run(bench, 'git status --short')).toBe('(no output)')
    expect(git(bench, 'log', '--format=%s')).toBe('One\n')
    await expect.poll(() => readdirSync(bench.folder).sort()).toEqual(['.env', '.git', '.gitignore', 'a.txt'])
  })

  test('a worktree, and a folder inside of a repository', async () => {
    const bench = await setBench()
    const repository = join(bench.outside, 'repository')
    mkdirSync(join(repository, 'packages/a'), { recursive: true })
    writeFileSync(join(repository, 'top.txt'), 'top\n')
    writeFileSync(join(repository, 'packages/a/a.txt'), 'a\n')
    const person = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
    const inRepository = (...words: readonly string[]) =>
      execFileSync('git', [...person, ...words], { cwd: repository })
    for (const words of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'x'],
    ])
      inRepository(...words)
    inRepository('worktree', 'add', '-q', join(bench.outside, 'tree'))
    for (const workspace of [join(bench.outside, 'tree'), join(repository, 'packages/a')]) {
      const other = await setBench({ workspace })
      const command = `git status --short && echo b > b.txt && git add b.txt && git ${person.join(' ')} commit -qm b && cat "$(git rev-parse --show-toplevel)/top.txt"`
      expect(await run(other, command)).toBe('top')
      expect(await run(other, 'echo x >> $(git rev-parse --git-common-dir)/config')).toMatch(/^ERROR/)
      expect(await run(other, 'echo x > $(git rev-parse --git-common-dir)/hooks/pre-commit')).toMatch(/^ERROR/)
    }
    const other = await setBench({ workspace: join(repository, 'packages/a') })
    expect(await run(other, 'echo x > ../../top.txt')).toMatch(/^ERROR/)
  })

  test('a folder that was added to the workspace, with the same limits as the workspace', async () => {
    const bench = await setBench({ permissions: { deny: [`Read(/${closedFolder()}/**/hidden.txt)`] } })
    const other = join(bench.outside, 'other')
    mkdirSync(join(other, 'deep'), { recursive: true })
    const inOther = (name: string, text: string) => writeFileSync(join(other, name), text)
    inOther('a.txt', 'words\n')
    inOther('deep/.env', 'KEY=topsecret\n')
    inOther('hidden.txt', 'topsecret\n')
    linkSync(join(other, 'hidden.txt'), join(bench.folder, 'innocent.txt'))
    inOther('.npmrc', '')
    const look = `cat ${other}/a.txt`
    expect(await run(bench, look)).toMatch(/^ERROR/)
    await bench.tools.addFolder(other)
    expect(await run(bench, `${look} && echo new > ${other}/b.txt`)).toBe('words')
    expect(readFileSync(join(other, 'b.txt'), 'utf8')).toBe('new\n')
    const read = await run(bench, `cat ${other}/deep/.env ${other}/hidden.txt innocent.txt; true`)
    expect(read).not.toContain('topsecret')
    for (const name of ['.npmrc', '.everlong/settings.json', '.claude/settings.json', '.git/hooks/pre-commit']) {
      const command = `mkdir -p $(dirname ${other}/${name}) && echo x > ${other}/${name}`
      expect([name, await run(bench, command)]).toEqual([name, expect.stringMatching(/^ERROR/)])
    }
    execFileSync('git', ['init', '-q'], { cwd: other })
    const person = '-c user.name=A -c user.email=a@example.com'
    expect(
      await run(bench, `cd ${other} && git add a.txt && git ${person} commit -qm One && git log --format=%s`),
    ).toBe('One')
    expect(await run(bench, `echo x > ${other}/.git/hooks/pre-commit`)).toMatch(/^ERROR/)
    expect(await run(bench, `echo x >> ${other}/.git/config`)).toMatch(/^ERROR/)
    expect(bench.asked).toEqual([])
  })

  test('npm test, Python, and a server inside of one command', async () => {
    const bench = await setBench()
    bench.write('package.json', '{"scripts":{"test":"node --test"}}')
    bench.write('a.test.mjs', "import test from 'node:test'\ntest('adds', () => {})\n")
    expect(await run(bench, 'npm test 2>&1 | grep -E "^(#|ℹ) (pass|fail)"')).toMatch(/pass 1\n.*fail 0$/)
    expect(await run(bench, `python3 -c 'import tempfile; print(tempfile.TemporaryFile().write(b"abc"))'`)).toBe('3')
    const serve = `require('http').createServer((_, r) => r.end('served')).listen(8123)`
    const command = `node -e "${serve}" & sleep 0.1; curl -s --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:8123; kill %1`
    expect(await run(bench, command)).toBe('served')
    expect(bench.asked).toEqual([])
  })

  test('long output goes to a file, which the next command can read', async () => {
    const bench = await setBench({ isOnDisk: true })
    const text = await run(bench, 'seq 1 20000')
    const path = /The whole output is in (\S+):/.exec(text)?.[1] ?? ''
    expect(await run(bench, `tail -1 ${path}`)).toBe('20000')
    expect(await run(bench, `echo x >> ${path}`)).toMatch(/^ERROR/)
  })

  test('a command in the background, its output and its end', async () => {
    const bench = await setBench()
    const command = 'echo one; while [ ! -e go ]; do sleep 0.05; done; echo two'
    const text = await bench.say('Bash', { command, run_in_background: true })
    expect(text).toMatch(/reached by no other command and not by the user. Start servers with outside_sandbox: true\.$/)
    const id = /as (bash_\w+)/.exec(text)?.[1]
    await expect.poll(() => bench.say('TaskOutput', { task_id: id }), { timeout: 20_000 }).toContain('one')
    bench.write('go', '')
    expect(await bench.say('TaskOutput', { task_id: id, block: true })).toBe(
      `Task ${id}: finished with exit code 0.\ntwo`,
    )
  })

  test('whatever ends a command ends all of its processes, and asks them first', async () => {
    const bench = await setBench()
    const mark = `4${process.pid}${Date.now() % 1_000}`
    const command = `trap 'echo asked; exit 3' TERM; sleep ${mark} & (setsid sleep ${mark} &) ; echo on; wait`
    const text = await bench.say('Bash', { command, timeout: 1_500 })
    expect(text).toBe('ERROR: The command was stopped: it ran longer than 1.5 s. Output until then:\non\nasked')
    expect(isRunning(mark)).toBe(false)
    const stop = new AbortController()
    const stubborn = `trap '' TERM; echo on; sleep ${mark}; sleep ${mark}`
    const called = bench.call('Bash', { command: stubborn }, stop.signal)
    // The sandbox may still be set up, or the command may run in it.
    await expect.poll(() => isRunning(mark), { timeout: 10_000, interval: 5 }).toBe(true)
    stop.abort()
    expect((await called).content).toMatch(/^The command was stopped by the user\./)
    expect(isRunning(mark)).toBe(false)
    expect(await bench.say('Bash', { command: stubborn, timeout: 1_500 })).toMatch(/longer than 1\.5 s.*\non$/s)
    expect(isRunning(mark)).toBe(false)
    expect(await run(bench, `sleep ${mark} & echo left`)).toBe('left')
    expect(isRunning(mark)).toBe(false)
  })
})

function isRunning(mark: string): boolean {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(`sleep ${mark}`)
}

describe.skipIf(why !== undefined)('what is closed', () => {
  test('files outside, in the home folder and of the system, for reading and writing', async () => {
    const bench = await setBench()
    writeFileSync(join(bench.outside, 'other.txt'), 'other\n')
    symlinkSync(join(bench.outside, 'other.txt'), join(bench.folder, 'link'))
    for (const command of [
      `cat ${join(bench.outside, 'other.txt')}`,
      'cat ../other.txt',
      'cat link',
      `ls ${bench.outside} | grep other`,
      `echo x > ${join(bench.outside, 'new.txt')} && cat ../new.txt; false`,
      'cat /etc/shadow',
      'echo x > /usr/local/new.txt',
      'ls ~/.ssh',
    ]) {
      expect(await run(bench, command), command).toMatch(/^ERROR: Exit code/)
    }
    expect(readdirSync(bench.outside).sort()).toEqual(['other.txt', 'work'])
    expect(bench.asked).toEqual([])
  })

  test('secrets by their name, unless a rule opens them', async () => {
    const bench = await setBench()
    for (const name of ['.env', 'a/.env.local', 'b/id_ed25519', '.env.example']) bench.write(name, `in ${name}\n`)
    const read = 'cat .env a/.env.local b/id_ed25519 .env.example 2>/dev/null'
    expect(await run(bench, read)).toBe(`ERROR: Exit code 1\nin .env.example`)
    const opened = await setBench({ permissions: { allow: ['Read(.env)'], deny: ['Read(b/**)'] } })
    for (const name of ['.env', 'a/.env.local', 'b/open.txt']) opened.write(name, `in ${name}\n`)
    opened.write('read.sh', 'cat .env a/.env.local b/open.txt 2>/dev/null; ls b')
    expect(await run(opened, 'sh read.sh')).toBe('in .env')
  })

  test('a file that a rule denies, for every program, also under another name and after it changed', async () => {
    const bench = await setBench({ startMode: 'allow', permissions: { deny: ['Read(secret.txt)', 'Edit(fixed/**)'] } })
    bench.write('deep/secret.txt', 'topsecret\n')
    bench.write('fixed/a.txt', 'fixed\n')
    linkSync(join(bench.folder, 'deep/secret.txt'), join(bench.folder, 'hard.txt'))
    for (const command of [
      'python3 read.py',
      'tar cf - . | strings',
      'grep -r topsecret . --include="*"',
      'cp -r deep copy; cat copy/*',
      'cat hard.txt',
    ]) {
      bench.write('read.py', `print(open('deep/secret' + '.txt').read())`)
      expect(await run(bench, command), command).not.toContain('topsecret')
    }
    expect(await run(bench, "python3 -c \"open('fixed/a.txt', 'w')\"")).toMatch(/^ERROR/)
    bench.write('make.sh', 'touch fixed/b.txt')
    expect(await run(bench, 'sh make.sh')).toMatch(/^ERROR: Exit code 1\ntouch: cannot touch/)
    bench.write('later/secret.txt', 'topsecret\n')
    expect(await run(bench, "python3 -c \"print(open('later/secret' + '.txt').read())\"")).not.toContain('topsecret')
    expect(bench.read('fixed/a.txt')).toBe('fixed\n')
  })

  test('the history of git, if it has a file that a rule denies', async () => {
    const permissions = { deny: ['Read(secret.txt)'] }
    const bench = await setBench({ startMode: 'allow', permissions })
    bench.write('secret.txt', 'topsecret\n')
    bench.write('a.txt', 'one\n')
    git(bench, 'init', '-q')
    git(bench, 'add', '-A')
    git(bench, 'commit', '-qm', 'x')
    expect(await run(bench, 'git log --oneline | wc -l && git status --short')).toContain(
      'Permission was denied by the user',
    )
    expect(bench.asked.splice(0).map(({ reason }) => reason)).toEqual([
      'a file that a rule denies is in the history of git, which this command may print',
    ])
    expect(await run(bench, 'git log --format=%s')).toBe('x')
    expect(await run(bench, 'cat a.txt; ls -A .git | wc -l')).toBe('one\n0')
    const python = `python3 -c 'import subprocess as s; print(s.run(["git","show"], capture_output=True).stdout)'`
    expect(await run(bench, python)).toBe("b''")
    expect(bench.asked).toEqual([])
    git(bench, 'rm', '-q', '--cached', 'secret.txt')
    git(bench, 'commit', '-qm', 'y')
    expect(await run(bench, 'git show HEAD~1')).toContain('Permission was denied')
  })

  test('settings of git, of the agent and of editors; new ones cannot be made', async () => {
    const bench = await setBench()
    bench.write('.vscode/tasks.json', '{}')
    for (const command of ['mkdir .everlong', 'mkdir -p .claude/skills', 'git init', 'echo x > .vscode/tasks.json']) {
      expect(await run(bench, command), command).toMatch(/^ERROR: Exit code/)
    }
    const isThere = () => ['.everlong', '.claude', '.git'].some((name) => existsSync(join(bench.folder, name)))
    await expect.poll(isThere).toBe(false)
    git(bench, 'init', '-q')
    for (const command of ['git config core.pager id', 'echo x > .git/hooks/pre-commit', 'mv .git old; mkdir .git']) {
      expect(await run(bench, command), command).toMatch(/^ERROR: Exit code/)
    }
    expect(readFileSync(join(bench.folder, '.vscode/tasks.json'), 'utf8')).toBe('{}')
  })

  test('variables with secrets, and the environment of the agent', async () => {
    const bench = await setBench()
    expect(
      await run(bench, 'echo "[$GITHUB_TOKEN]"; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c ghp_'),
    ).toBe('ERROR: Exit code 1\n[]\n0')
  })
})

describe.skipIf(why !== undefined)('who is asked', () => {
  test('deleting what no checkpoint has asks; a rule or the mode allow permits it', async () => {
    const remove = 'rm -rf data.sqlite .git/objects'
    const prepared = async (options: BenchOptions = {}) => {
      const bench = await setBench(options)
      bench.write('data.sqlite', 'rows')
      bench.write('.gitignore', '*.sqlite\n')
      git(bench, 'init', '-q')
      return bench
    }
    const asking = await prepared()
    expect(await run(asking, remove)).toContain('Permission was denied by the user')
    expect(asking.asked.map(({ title, reason, rules }) => ({ title, reason, rules }))).toEqual([
      {
        title: `Run ${remove}`,
        reason: 'it deletes .git/objects, which /rewind cannot restore',
        rules: [`Bash(${remove})`],
      },
    ])
    expect(existsSync(join(asking.folder, '.git/objects'))).toBe(true)
    const byRule = await prepared({ permissions: { allow: ['Bash(rm:*)'] } })
    const byMode = await prepared({ startMode: 'allow' })
    for (const bench of [byRule, byMode]) {
      expect(await run(bench, remove)).toBe('(no output)')
      expect(bench.asked).toEqual([])
      expect(existsSync(join(bench.folder, 'data.sqlite'))).toBe(false)
    }
  })

  test('a host is asked about once for each command, and a rule can allow or deny it', async () => {
    const server = createServer((_, response) => response.end('answered'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const fetches = `curl -sf --noproxy '' http://127.0.0.1:${port} http://127.0.0.1:${port}`
    const bench = await setBench({ answer: () => ({ type: 'allow' }) })
    expect(await run(bench, fetches)).toBe('answeredanswered')
    expect(await run(bench, fetches)).toBe('answeredanswered')
    expect(bench.asked).toEqual(
      ['toolu_1', 'toolu_2'].map((toolUseId) => ({
        toolUseId,
        tool: 'Bash',
        title: `Connect to 127.0.0.1:${port}`,
        detail: { type: 'text', text: fetches },
        reason: 'the network is closed for commands in the sandbox',
        rules: ['Network(domain:127.0.0.1)'],
      })),
    )
    const refusing = await setBench({ answer: () => ({ type: 'deny', reason: 'no network please' }) })
    const refused = `[The sandbox refused connections to 127.0.0.1:${port}. Permission was denied by the user: Connect to 127.0.0.1:${port}. They said: no network please. `
    expect(await run(refusing, fetches)).toContain(refused)
    expect(refusing.asked).toHaveLength(1)
    const byRule = await setBench({ permissions: { allow: ['Network(domain:127.0.0.1)'] } })
    expect(await run(byRule, fetches)).toBe('answeredanswered')
    const denied = await setBench({ startMode: 'allow', permissions: { deny: ['WebFetch(domain:localhost)'] } })
    expect(await run(denied, fetches)).toMatch(/^ERROR/)
    expect([...byRule.asked, ...denied.asked]).toEqual([])
    expect(await run(byRule, `curl -s --noproxy '*' http://127.0.0.1:${port}`)).toMatch(/^ERROR/)
    server.close()
  })

  test('leaving the sandbox is a question of its own', async () => {
    const bench = await setBench({ answer: () => ({ type: 'allow' }) })
    writeFileSync(join(bench.outside, 'other.txt'), 'other\n')
    const command = 'python3 -c "print(open(\'../other.txt\').read())"'
    expect(await run(bench, command)).toMatch(/^ERROR/)
    expect(await bench.say('Bash', { command, outside_sandbox: true })).toBe('other\n')
    expect(bench.asked.map(({ title, reason }) => ({ title, reason }))).toEqual([
      { title: `Run ${command}`, reason: 'outside the sandbox' },
    ])
  })

  test('rules about commands hold inside, and the modes that ask and that require', async () => {
    const bench = await setBench({ permissions: { deny: ['Bash(rm:*)'] } })
    expect(await run(bench, 'rm x')).toContain('the rule Bash(rm:*) in the settings forbids it')
    expect(await run(bench, '$x y')).toContain('Permission was denied by the user')
    expect(await run(bench, 'touch y')).toBe('(no output)')
    bench.setMode('plan')
    expect(await run(bench, 'touch z')).toContain('plan mode is on')
    const asking = await setBench({ sandbox: { mode: 'ask' }, answer: () => ({ type: 'allow' }) })
    asking.write('.env', 'topsecret')
    expect(await run(asking, 'python3 -c "print(open(\'.env\').read())"')).toMatch(/^ERROR: Exit code 1/)
    expect(asking.asked).toHaveLength(1)
    const required = await setBench({ sandbox: { mode: 'required' } })
    expect(await required.say('Bash', { command: 'ls', outside_sandbox: true })).toBe(
      'ERROR: The settings permit no command outside the sandbox.',
    )
  })
})

describe('where no sandbox can start', () => {
  const nowhere = { ...environment, PATH: '/nowhere' }

  test('it is reported once, and rules decide', async () => {
    const said: string[] = []
    const bench = await setBench({
      environment: nowhere,
      sandbox: { mode: 'on', onUnavailable: (text) => said.push(text) },
    })
    expect(await run(bench, 'echo hi')).toBe('hi')
    expect(await run(bench, 'exec 2>&1')).toContain('Permission was denied by the user')
    expect(said).toEqual([expect.stringMatching(/bwrap|bubblewrap|sandbox/i)])
    expect(bench.tools.sandbox()).toEqual({ type: 'unavailable', mode: 'on', why: said[0] })
  })

  test('and with "required", no command runs', async () => {
    const bench = await setBench({ environment: nowhere, sandbox: { mode: 'required' }, startMode: 'allow' })
    expect(await run(bench, 'echo hi')).toMatch(/^ERROR: It needs the sandbox, which is not there: /)
  })
})
