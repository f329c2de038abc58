import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandOfSkill } from '../own/own-commands.ts'
import { setFolder } from '../testing/folder.ts'
import type { BenchOptions } from '../testing/tool-bench.ts'
import { benches } from '../testing/with-bench.ts'
import { findSkills } from './skills.ts'

const setBench = benches()
const temporary = setFolder()

function skillsIn(skills: Readonly<Record<string, string>>): string {
  const folder = join(temporary(), 'skills')
  for (const [name, text] of Object.entries(skills)) {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'SKILL.md'), text)
  }
  return folder
}

const release = `---
name: release
description: >
  Publishes a version.
  Use it on Tuesdays.
---

# Release

1. Run scripts/check.sh
`

const withSkills = (folder: string, more: BenchOptions = {}) => setBench({ skillFolders: [folder], ...more })

test('a skill is listed by its head and loaded when it is used, with where its files are', async () => {
  const folder = skillsIn({ release, deploy: `---\nname: "deploy"\ndescription: 'Ships it.'\n---\nShip.` })
  writeFileSync(join(folder, 'release', 'check.sh'), 'true\n')
  const bench = await withSkills(folder)
  const { description } = bench.tools.tools.find(({ name }) => name === 'Skill') ?? {}
  expect(description?.split('\n').slice(1)).toEqual([
    '- deploy: Ships it.',
    '- release: Publishes a version. Use it on Tuesdays.',
  ])
  expect(await bench.say('Skill', { skill: 'release', args: 'version 2' })).toBe(
    `Skill release. Its files are in ${join(folder, 'release')}\n\n# Release\n\n1. Run scripts/check.sh\n\nWith: version 2`,
  )
  // Its files may be read, though they are outside the workspace.
  expect(await bench.say('Read', { file_path: join(folder, 'release', 'check.sh') })).toBe('1\ttrue')
  expect(bench.asked).toEqual([])
  const misnamed = { skill: 'release', arguments: 'version 2' }
  expect(await bench.say('Skill', misnamed)).toBe(
    'ERROR: Invalid input: ✖ Unrecognized key: "arguments"\nThe keys are: skill, args.',
  )
  expect(await bench.say('Skill', { skill: 'x' })).toBe('ERROR: There is no skill x. Known: deploy, release.')
})

test('a skill can be denied by name', async () => {
  const bench = await withSkills(skillsIn({ release }), { permissions: { deny: ['Skill(release)'] } })
  expect(await bench.say('Skill', { skill: 'release' })).toContain('the rule Skill(release)')
})

test('skills that cannot be used are named; links out of their folder are not followed', async () => {
  const folder = skillsIn({
    release,
    headless: 'Do it.',
    vague: '---\nname: vague\n---\n',
    'odd name': '---\ndescription: x\n---\n',
  })
  mkdirSync(join(folder, '..', 'elsewhere'))
  writeFileSync(join(folder, '..', 'elsewhere', 'SKILL.md'), release)
  symlinkSync(join(folder, '..', 'elsewhere'), join(folder, 'linked'))
  const bench = await setBench({ skillFolders: [folder, join(folder, 'nowhere')] })
  expect(bench.tools.problems.map((problem) => problem.slice('Skill not used: '.length + folder.length + 1))).toEqual([
    'headless/SKILL.md: expected a head between lines of "---" with name and description',
    'linked/SKILL.md: a link leads out of the folder of skills',
    'odd name/SKILL.md: use letters, digits, ".", "-" and "_" in the name',
    'vague/SKILL.md: the head has no description, so nobody knows when to use it',
  ])
})

test('without skills there is no such tool', async () => {
  const bench = await setBench()
  expect(bench.tools.tools.some(({ name }) => name === 'Skill')).toBe(false)
})

test('a skill whose file was replaced is not loaded: by a link that leads out or to secrets, a pipe, a device, a huge file', async () => {
  const folder = skillsIn({ release })
  const file = join(folder, 'release', 'SKILL.md')
  writeFileSync(join(folder, '..', 'outside'), 'a secret')
  writeFileSync(join(folder, '.env'), 'KEY=topsecret')
  writeFileSync(join(folder, 'shared.md'), 'Shared.')
  const bench = await withSkills(folder)
  const { skills } = findSkills([folder])
  const said = async (replace: () => void) => {
    rmSync(file, { recursive: true, force: true })
    replace()
    const [skill] = skills
    const own = skill && commandOfSkill(skill).expand('')
    const byTool = await bench.say('Skill', { skill: 'release' })
    // The person's `/release` says the same.
    expect(byTool).toContain(own && 'why' in own ? `ERROR: ${own.why}` : 'Skill release.')
    return byTool.replaceAll(folder, '').replace('ERROR: The skill release cannot be used. /release/SKILL.md: ', '')
  }
  expect(await said(() => symlinkSync('../../outside', file))).toBe('a link leads out of the folder of skills')
  expect(await said(() => symlinkSync('../.env', file))).toBe('a link leads to a file with secrets')
  expect(await said(() => symlinkSync('/dev/zero', file))).toBe('a link leads out of the folder of skills')
  expect(await said(() => execFileSync('mkfifo', [file]))).toBe('it is not a regular file')
  expect(await said(() => mkdirSync(file))).toBe('it is not a regular file')
  expect(await said(() => writeFileSync(file, 'x'.repeat(256 * 1024 + 1)))).toBe('it is larger than 256 KB')
  expect(await said(() => undefined)).toMatch(/^ENOENT/)
  expect(await said(() => symlinkSync('../shared.md', file))).toBe(
    'Skill release. Its files are in /release\n\nShared.',
  )
  expect(await said(() => writeFileSync(file, 'New.'))).toBe('Skill release. Its files are in /release\n\nNew.')
})

test('a skill that is a pipe from the start does not stop the agent', () => {
  const folder = skillsIn({ release })
  mkdirSync(join(folder, 'pipe'))
  execFileSync('mkfifo', [join(folder, 'pipe', 'SKILL.md')])
  const { skills, problems } = findSkills([folder])
  expect([skills.map(({ name }) => name), problems]).toEqual([
    ['release'],
    [`${join(folder, 'pipe', 'SKILL.md')}: it is not a regular file`],
  ])
})
