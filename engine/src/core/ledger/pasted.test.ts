import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldPasted } from './pasted.ts'

const log = Array.from({ length: 30 }, (_, at) => `2026-01-02 10:00:${at} ERROR worker[${at}]: {"code":${at}}`).join(
  '\n',
)

describe('folding what was pasted', () => {
  test('the user’s own sentences stay whole, and the block becomes one line that says what it is', () => {
    const text = foldPasted(`Why does this happen?\n\n${log}\n\nIt must not happen again.`)
    expect(text).toBe(
      `Why does this happen?\n\n[pasted log, 30 lines, ${log.length.toLocaleString('en')} characters, starting "2026-01-02 10:00:0 ERROR worker[0]: {'code':0}"]\n\nIt must not happen again.`,
    )
  })

  test.each([
    ['JSON', `{"a": [${'{"b": 1},\n'.repeat(60)}]}`],
    ['diff', `diff --git a/x b/x\n@@ -1 +1 @@\n${'-const a = 1;\n+const a = 2;\n'.repeat(30)}`],
    ['stack trace', `x = foo(1)\n${'    at Object.<anonymous> (/p/a.js:10:5)\n'.repeat(20)}`],
    ['log', log],
    ['terminal output', `$ ls -la\n${'-rw-r--r-- 1 a b 220 x.ts\n'.repeat(30)}`],
    ['code or output', `const a = {\n${'  b: c(d[0], e => e.f),\n'.repeat(30)}}`],
    ['code or output', `\`\`\`\n${'This is plain prose within a fence.\n'.repeat(20)}\`\`\``],
  ])('a %s is called that', (kind, block) => {
    const text = foldPasted(`Look at this, please.\n${block}\nWhat is it?`)
    expect(text).toMatch(
      new RegExp(`^Look at this, please\\.\\n\\[pasted ${kind}, [\\d,]+ lines, .*\\]\\n+What is it\\?$`),
    )
  })

  test('short blocks and long prose stay as they are', () => {
    const prose = 'This is what I would like to have, and why I would like to have it. '.repeat(40)
    const list = `Do this:\n${'- open the door and paint it green\n'.repeat(30)}`
    for (const text of [prose, list, 'Run `npm test` now.', `Look:\n\`\`\`\nx = 1\n\`\`\`\n${prose}`]) {
      expect(foldPasted(text)).toBe(text)
    }
  })

  test('every line of prose is kept, in order, whatever stands around it', () => {
    const prose = fc.constantFrom('Why does this fail for me?', 'Please look at the second part.', 'I like it green.')
    const part = fc.oneof(
      prose.map((text) => ({ text, isProse: true })),
      fc.constant({ text: log, isProse: false }),
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), (parts) => {
        const text = foldPasted(parts.map((one) => one.text).join('\n'))
        const kept = text.split('\n').filter((line) => !line.startsWith('[pasted '))
        expect(kept).toEqual(parts.filter(({ isProse }) => isProse).map((one) => one.text))
      }),
    )
  })

  test('half characters at the cut do not get out', () => {
    expect(foldPasted(`{"${'😀'.repeat(300)}": [1, 2, {}]}`).isWellFormed()).toBe(true)
    expect(foldPasted(`{ "a${'😀'.repeat(300)}": [1, 2, {}]}`).isWellFormed()).toBe(true)
  })
})
