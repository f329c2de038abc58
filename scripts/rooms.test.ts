import { describe, expect, test } from 'vitest'
import { checkRooms } from './rooms.ts'

const problems = (path: string, text: string) => checkRooms([{ path, text }]).map((found) => found.problem)

describe('the room check', () => {
  test('lets a room import the rooms below it', () => {
    expect(problems('engine/src/core/tokens/a.ts', "import { x } from '../message/message.ts'")).toEqual([])
  })

  test('refuses a room that imports upwards, also when only a type is taken', () => {
    expect(problems('engine/src/core/message/a.ts', "import type { X } from '../tokens/size.ts'")).toEqual([
      'imports engine/src/core/tokens/size.ts, which is not open to engine/src/core/message',
    ])
  })

  test('lets a new store use Node and its driver, and no other store', () => {
    const path = 'engine/src/stores/new-store/deep/a.ts'
    const allowed = ['node:fs', 'some-driver', '../../rules.ts', '../../../node/files.ts', '../b.ts']
    expect(problems(path, allowed.map((name) => `import { x } from '${name}'`).join('\n'))).toEqual([])
    expect(problems(path, "import { x } from '../../postgres/postgres.ts'")).toEqual([
      'imports engine/src/stores/postgres/postgres.ts, which is not open to engine/src/stores/new-store',
    ])
    expect(problems('engine/src/stores/copy.ts', "import { x } from 'some-driver'")).toEqual([
      'imports the package some-driver, which engine/src/stores may not lean on',
    ])
  })

  test('refuses Node, the clock, randomness and module state in core', () => {
    const text = "import { readFileSync } from 'node:fs'\nlet last = Date.now() + Math.random()"
    expect(problems('engine/src/core/tokens/a.ts', text)).toEqual([
      'imports the package node:fs, which engine/src/core/tokens may not lean on',
      'reads the clock: take the time as an argument (core is pure)',
      'uses randomness: take ids as an argument (core is pure)',
      'keeps module state (core is pure)',
    ])
  })

  test('reads imports that run over several lines, and not those in comments', () => {
    const text = "// import { a } from '../tokens/a.ts'\nimport {\n  b,\n} from '../transcript/b.ts'"
    expect(problems('engine/src/core/message/a.ts', text)).toEqual([
      'imports engine/src/core/transcript/b.ts, which is not open to engine/src/core/message',
    ])
  })

  test('finds rings of imports', () => {
    const found = checkRooms([
      { path: 'cli/src/a.ts', text: "import { b } from './b.ts'" },
      { path: 'cli/src/b.ts', text: "import { a } from './a.ts'" },
    ])
    expect(found).toEqual([
      { path: 'cli/src/a.ts', problem: 'is in a ring of imports: cli/src/a.ts → cli/src/b.ts → cli/src/a.ts' },
    ])
  })

  test('refuses a file that has grown too long and one that is in no room', () => {
    expect(problems('cli/src/a.ts', '\n'.repeat(400))).toEqual(['has 401 lines; at most 400 are allowed'])
    expect(problems('attic/src/a.ts', '')).toEqual(['is in no room of scripts/rooms.ts'])
  })

  test('a room outside the engine uses the engine by its public names only', () => {
    expect(problems('cli/src/a.ts', "import { x } from '../../engine/src/node/scan.ts'")).toEqual([
      'imports engine/src/node/scan.ts, which is not open to cli',
    ])
    expect(problems('cli/src/a.ts', "import { x } from 'everlong/node'")).toEqual([])
  })
})
