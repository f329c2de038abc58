// Who may read the pages: only a page of this server with the token, in a real browser, against all attempts of another page.
import { session } from 'everlong/internal/testing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../build.ts'
import { builtPage, startViewer, type Viewer } from '../server/start.ts'
import { type Browser, browserPath, startBrowser, strangeHost } from '../testing/browser.ts'
import { temporaryFolder } from '../testing/sessions.ts'

/** Runs in the page of a stranger. */
const intrude = `async (url) => {
  const loaded = (element, address) =>
    new Promise((done) => {
      element.onload = () => done('loaded')
      element.onerror = () => done('refused')
      element.setAttribute('src', address)
      document.body.append(element)
      setTimeout(() => done('nothing'), 3_000)
    })
  const frame = document.createElement('iframe')
  await loaded(frame, url)
  let framed
  try {
    framed = frame.contentWindow.document.body.textContent
  } catch {
    framed = 'unreadable'
  }
  const opened = window.open(url)
  await new Promise((wait) => setTimeout(wait, 1_500))
  const script = await loaded(document.createElement('script'), url + '/api/overview')
  return { framed, script, isOutOfReach: opened === null || opened.closed }
}`

/**
 * Runs as a script would that got into the page. The debugger may compile text, whatever the policy says, so the attempts wait for a
 * timer, which runs as a script of the page.
 */
const breakOut = `async () => {
  const found = []
  const ran = []
  window.ran = ran
  document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => found.push(effectiveDirective))
  const tries = [
    () => fetch('http://127.0.0.1:1/'),
    () => {
      new Image().src = 'http://127.0.0.1:1/pixel.png'
    },
    () => {
      const script = document.createElement('script')
      script.textContent = 'ran.push("inline")'
      document.body.append(script)
    },
    () => (0, eval)('ran.push("eval")'),
    () => new Function('ran.push("function")')(),
    () => setTimeout('ran.push("timer")'),
    () => {
      document.body.innerHTML = '<b>markup</b>'
      ran.push('markup')
    },
  ]
  for (const attempt of tries) {
    await new Promise((done) =>
      setTimeout(async () => {
        try {
          await attempt()
        } catch {
          // Refused, as it should be. What goes through is in ran.
        }
        done()
      }),
    )
  }
  await new Promise((wait) => setTimeout(wait, 300))
  return { rules: [...new Set(found)].toSorted(), ran }
}`

describe.skipIf(browserPath === undefined)('strangers (skipped: there is no Chromium on this machine)', () => {
  const folder = temporaryFolder()
  const undone: string[] = []
  let viewer: Viewer
  let browser: Browser
  let evil: Page
  let own = ''
  beforeAll(async () => {
    folder.write('given/one.jsonl', session().user('Secret words.').assistant('Hidden.').text)
    folder.write('outside.jsonl', session().user('Outside.').assistant('Out.').text)
    const undo = async (path: string) => {
      undone.push(path)
      return undefined
    }
    const page = builtPage(await buildPage())
    viewer = await startViewer({ paths: [`${folder.path}/given`], port: 0, env: {}, page, undo })
    own = `http://127.0.0.1:${viewer.port}`
    browser = await startBrowser()
    // The person has the page open, with the token in its storage, while a foreign page is also open.
    const { page: good } = await browser.open()
    await good.goto(viewer.url)
    await good.getByText('Secret words.').waitFor()
    const { page: bad } = await browser.open()
    evil = bad
    // Answers of the strange origin, without our policy.
    await evil.route(`http://${strangeHost}/**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>evil</h1><div id="place"></div>' }),
    )
  })
  afterAll(async () => {
    await browser?.close()
    await viewer?.close()
    folder.remove()
  })

  /** The result of a script on the foreign page: the text, or the error. */
  const read = (init: object, path = '/api/overview') =>
    evil.evaluate(
      ([url, options]) =>
        fetch(url as string, options as RequestInit).then(
          async (answer) => `${answer.status} ${await answer.text()}`,
          () => 'refused',
        ),
      [`${own}${path}`, init],
    )

  test('a page of another origin reads nothing and undoes nothing, even if it knew the token', async () => {
    await evil.goto(`http://${strangeHost}/`)
    const headers = { authorization: `Bearer ${viewer.token}` }
    expect(await read({})).toBe('refused')
    expect(await read({ credentials: 'include' })).toBe('refused')
    expect(await read({ headers })).toBe('refused')
    expect(await read({ method: 'POST', headers }, '/api/sessions/0123456789abcdef/undo?uuid=x')).toBe('refused')
    expect(await read({ method: 'POST', mode: 'no-cors' }, '/api/sessions/0123456789abcdef/undo?uuid=x')).not.toContain(
      '{',
    )
    expect(await read({ mode: 'no-cors' })).not.toContain('Secret')
    expect(undone).toEqual([])
  })

  test('a page of another origin can neither frame it, nor run its script, nor reach its window', async () => {
    await evil.goto(`http://${strangeHost}/`)
    const found = await evil.evaluate(`(${intrude})(${JSON.stringify(own)})`)
    expect(found).toEqual({ framed: 'unreadable', script: 'refused', isOutOfReach: true })
  })

  test('a name of a stranger that leads to this machine is refused: page, data and token', async () => {
    await evil.unroute(`http://${strangeHost}/**`)
    const answer = await evil.goto(`http://${strangeHost}:${viewer.port}/#token=${viewer.token}`)
    expect([answer?.status(), await answer?.text()]).toEqual([
      403,
      JSON.stringify({ error: 'This server answers only to its own address.' }),
    ])
    const data = await evil.evaluate(
      (token) => fetch('/api/overview', { headers: { authorization: `Bearer ${token}` } }).then((got) => got.status),
      viewer.token,
    )
    expect(data).toBe(403)
  })

  test('without the token the page shows no session and says what to do', async () => {
    const { page } = await browser.open()
    // localhost is another origin than 127.0.0.1, so its storage is empty.
    await page.goto(`http://localhost:${viewer.port}/`)
    await page.getByText('Open the address that `everlong view` printed').waitFor()
    expect(await page.locator('body').textContent()).not.toContain('Secret')
    await page.goto(`http://localhost:${viewer.port}/#token=wrong-token`)
    await page.reload()
    await page.getByText('Open the address that `everlong view` printed').waitFor()
    await page.close()
  })

  test('no address leads to a file outside the given paths', async () => {
    const { page, seen } = await browser.open()
    await page.goto(`${own}/`)
    const tricks = [
      '/api/sessions/..%2f..%2foutside.jsonl',
      '/api/sessions/%2e%2e/%2e%2e/outside.jsonl',
      '/assets/..%2f..%2f..%2fpackage.json',
      '/..%5c..%5coutside.jsonl',
      '/%00/etc/passwd',
      '//etc/passwd',
      '/@fs/etc/passwd',
      '/api/sessions/__proto__',
      '/api/sessions/constructor/items',
    ]
    const answers = await page.evaluate(
      ([paths, token]) =>
        Promise.all(
          (paths as string[]).map(async (path) => {
            const got = await fetch(path, { headers: { authorization: `Bearer ${token}` } }).catch(() => undefined)
            const text = (await got?.text()) ?? ''
            return [path, text.includes('root:') || text.includes('Outside.') || text.includes('devDependencies')]
          }),
        ),
      [tricks, viewer.token] as const,
    )
    expect(answers).toEqual(tricks.map((path) => [path, false]))
    for (const path of [
      '/session/..%2f..%2foutside.jsonl',
      '/session/__proto__',
      '/session/constructor/compaction/1',
    ]) {
      await page.goto(`${own}${path}`)
      await page.getByRole('alert').first().waitFor()
      expect(await page.locator('body').textContent()).not.toContain('Outside.')
    }
    expect(seen.requests.filter((url) => !url.startsWith(own))).toEqual([])
    await page.close()
  })

  test('the policy of the page refuses scripts, pictures and connections that are not its own', async () => {
    const { page } = await browser.open()
    await page.goto(viewer.url)
    await page.getByText('Secret words.').waitFor()
    const refused = await page.evaluate(`(${breakOut})()`)
    // Trusted types refuse scripts and markup before other rules apply.
    expect(refused).toEqual({ rules: ['connect-src', 'img-src', 'require-trusted-types-for'], ran: [] })
    // The same attempts succeed without a policy.
    const { page: free } = await browser.open()
    await free.route(`http://${strangeHost}/**`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>free</h1>' }),
    )
    await free.goto(`http://${strangeHost}/`)
    expect(await free.evaluate(`(${breakOut})()`)).toEqual({
      rules: [],
      ran: ['inline', 'eval', 'function', 'timer', 'markup'],
    })
    await page.close()
    await free.close()
  })
})
