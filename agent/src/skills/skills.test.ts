import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import type { BenchOptions } from '../testing/tool-bench.ts'
import { benches } from '../testing/with-bench.ts'

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
