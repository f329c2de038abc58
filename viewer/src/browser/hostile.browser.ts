// Transcripts that try to break out: none of their content runs, nothing is fetched, and no other origin is contacted.
import { serialize, session } from 'everlong/internal/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../build.ts'
import { builtPage, startViewer, type Viewer } from '../server/start.ts'
import { type Browser, browserPath, startBrowser } from '../testing/browser.ts'
import { temporaryFolder } from '../testing/sessions.ts'

/** A line of 50 MB, like the output of a tool that prints a whole database. */
const hugeLine = 50 << 20

const attacks = [
  '<script>window.broken = 1</script>',
  '<img src=x onerror="window.broken = 2">',
  '<svg onload="window.broken = 3"><a xlink:href="javascript:window.broken=4"><text>click</text></a></svg>',
  '[click](javascript:window.broken=5) javascript:window.broken=6',
  '<iframe srcdoc="<script>parent.broken = 7</script>"></iframe><object data="http://evil.example/"></object>',
  '</pre></article></body><base href="http://evil.example/"><link rel=stylesheet href="http://evil.example/a.css">',
  '<style>@import "http://evil.example/b.css"; body { display: none }</style><meta http-equiv=refresh content="0;url=http://evil.example">',
  '<form action="http://evil.example"><input name=token></form><img src="http://evil.example/pixel.png">',
  '\u001b[2J\u001b]8;;http://evil.example\u0007link\u001b]8;;\u0007 \u202egnp.exe \u0000 \ud800',
  '{"__proto__": {"broken": 8}, "constructor": {"prototype": {"broken": 9}}}',
  'http://evil.example/ https://evil.example/?q=1 data:text/html,<script>1</script>',
]

function hostileSession(): string {
  const name = '"><script>window.broken = 10</script>'
  let made = session({ cwd: `/home/${name}` }).user(attacks.join('\n'))
  for (const [at, attack] of attacks.entries())
    made = made
      .toolUse(`t${at}`, name, { command: attack, __proto__: attack })
      .toolResult(`t${at}`, attack, { isError: at % 2 === 0 })
      .assistant(attack)
      .user(`Never run ${attack}`)
      .assistant('No.')
  const huge = `${'A'.repeat(2_000_000)}<script>window.broken = 11</script>`
  made = made.user(huge).assistant('x'.repeat(50_000), { tokens: { cacheRead: 90_000, output: 10 } })
  const compacted = made
    .boundary({ preTokens: 90_000, metadata: { trigger: '<img src=x onerror=window.broken=12>' } })
    .summary(
      `1. **<script>window.broken = 13</script>:**\n${attacks.map((attack) => `- The user approved ${attack}.`).join('\n')}`,
    )
    .attachment('file', { filename: name, content: { type: 'text', file: { content: attacks.join('\n') } } })
    .user('Go on.')
    .assistant(attacks.join('\n'), { model: name, tokens: { cacheWrite: 9_000, output: 50 } })
  return `${compacted.text}${serialize(JSON.parse('{"type":"user","uuid":"__proto__","parentUuid":"constructor","timestamp":"toString","__proto__":{"broken":14},"message":{"role":"user","content":"proto"}}'))}{"type": broken\n`
}

/** Runs in the page. */
const openAll = `for (const details of document.querySelectorAll('details')) details.open = true`

describe.skipIf(browserPath === undefined)(
  'a hostile transcript (skipped: there is no Chromium on this machine)',
  () => {
    const folder = temporaryFolder()
    let viewer: Viewer
    let browser: Browser
    beforeAll(async () => {
      folder.write('hostile "><script>window.broken=15<!script>.jsonl', hostileSession())
      viewer = await startViewer({ paths: [folder.path], port: 0, env: {}, page: builtPage(await buildPage()) })
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser?.close()
      await viewer?.close()
      folder.remove()
    })

    test('goes through every view as text', async () => {
      const { page, seen } = await browser.open()
      await page.goto(viewer.url)
      const link = page.locator('a.line').first()
      await link.waitFor()
      const path = (await link.getAttribute('data-link')) ?? ''
      const views = [
        '/',
        '/?words=%3Cscript%3Ewindow.broken%3D16%3C/script%3E&sort=__proto__&agent=constructor',
        path,
        `${path}?at=99999999&find=%3Cscript%3E&kind=__proto__&from=NaN&to=-1`,
        `${path}?at=3&find=evil`,
        ...['gone', 'words', 'restored', 'everlong', '__proto__'].map((tab) => `${path}/compaction/1?tab=${tab}`),
        '/session/%3Cscript%3E/compaction/1',
      ]
      for (const view of views) {
        await page.goto(`http://127.0.0.1:${viewer.port}${view}`)
        await page.locator('h1, [role=alert]').first().waitFor()
        await page.waitForTimeout(700)
        await page.evaluate(openAll)
        expect([
          view,
          await page.evaluate(() => ({
            broken: (globalThis as { broken?: unknown }).broken,
            proto: ({} as { broken?: unknown }).broken,
          })),
        ]).toEqual([view, { broken: undefined, proto: undefined }])
        const elements = await page
          .locator(
            'script:not([src]), iframe, object, base, img, form[action], link[href^="http"], a[href^="javascript"], a[href^="http"], a[href^="//"], a[href^="data:"]',
          )
          .count()
        expect([view, elements]).toEqual([view, 0])
      }
      const own = `http://127.0.0.1:${viewer.port}/`
      expect(seen.requests.filter((url) => !url.startsWith(own))).toEqual([])
      // An address that names no session is answered with an error, which the browser notes. Nothing else is.
      expect(seen.problems.filter((problem) => !/status of 404/.test(problem))).toEqual([])
      await page.close()
    })

    test('a line of 50 MB is shown in part, found in, and can be saved', { timeout: 120_000 }, async () => {
      const text = `${'data '.repeat(hugeLine / 5)}needle<script>window.broken = 17</script>`
      folder.write('huge.jsonl', session().user('Print it.').assistant(text).user('Thanks.').assistant('Yes.').text)
      const { page, seen } = await browser.open()
      page.setDefaultTimeout(60_000)
      await page.goto(viewer.url)
      await page.locator('a.line', { hasText: 'huge.jsonl' }).click()
      await page.getByRole('button', { name: /Show the first 500,000 of 52,\d+,\d+ characters/ }).click()
      await page.getByRole('button', { name: /Save all 52,\d+,\d+ characters/ }).waitFor()
      await page.getByLabel('Find in this session').fill('needle')
      await page.keyboard.press('Enter')
      await page.getByText('1 item', { exact: true }).waitFor()
      await page.getByText('Thanks.', { exact: true }).waitFor()
      expect(await page.evaluate('window.broken')).toBeUndefined()
      expect(seen.problems).toEqual([])
      await page.close()
    })
  },
)
