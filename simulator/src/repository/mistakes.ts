// The mistakes in generated modules, and the spelling of a module's name in code.

export type PlantedMistake = {
  readonly symbol: string
  readonly wrong: string
  readonly right: string
  readonly testName: string
  readonly expected: string
  readonly received: string
}

export function wordOf(module: { readonly name: string }): string {
  return module.name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

export function typeOf(module: { readonly name: string }): string {
  const word = wordOf(module)
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** Each kind is a mistake people make; the symbol makes its text unique in the file. */
export function mistakeFor(name: string, kind: number): PlantedMistake {
  const word = wordOf({ name })
  const type = typeOf({ name })
  const kinds: readonly [PlantedMistake, ...PlantedMistake[]] = [
    {
      symbol: `count${type}s`,
      wrong: `for (let at = 0; at <= ${word}s.length; at++) total += ${word}s[at]?.weight ?? 1`,
      right: `for (let at = 0; at < ${word}s.length; at++) total += ${word}s[at]?.weight ?? 1`,
      testName: `counts every ${name} once`,
      expected: '3',
      received: '4',
    },
    {
      symbol: `latest${type}`,
      wrong: `return [...${word}s].sort((a, b) => a.version - b.version)[0]`,
      right: `return [...${word}s].sort((a, b) => b.version - a.version)[0]`,
      testName: `takes the newest ${name}`,
      expected: '{ "version": 9 }',
      received: '{ "version": 2 }',
    },
    {
      symbol: `limit${type}`,
      wrong: `const ${word}Limit = options.limit || default${type}Limit`,
      right: `const ${word}Limit = options.limit ?? default${type}Limit`,
      testName: `takes a limit of zero for a list of ${name}s`,
      expected: '0',
      received: '100',
    },
    {
      symbol: `load${type}`,
      wrong: `${word}Cache.set(key, fetch${type}(key))`,
      right: `${word}Cache.set(key, await fetch${type}(key))`,
      testName: `keeps the loaded ${name}, not its promise`,
      expected: `"${name}:1"`,
      received: 'Promise {}',
    },
  ]
  return kinds[kind] ?? kinds[0]
}
