// A moving picture of the page in a browser: real frames, with a ring where the mouse is, which a browser without a screen does not draw.
import type { Locator, Page } from 'playwright-core'
import { animatedWebp, type MovingFrame, type MovingSize } from './animated-webp.ts'

export type Movie = {
  /** Shows the page as it is for this long. */
  readonly hold: (milliseconds: number) => Promise<void>
  /** Moves the mouse to a share of the width, and shows the page for this long. */
  readonly point: (target: Locator, share: number, milliseconds: number) => Promise<void>
  /** Moves the mouse there, shows that, and clicks. */
  readonly click: (target: Locator) => Promise<void>
  readonly finish: () => Buffer
  /** How long each frame is shown. */
  readonly times: () => readonly number[]
  /** The same, as the browser decodes it from a file. */
  readonly framesIn: (file: Buffer) => Promise<readonly number[]>
}

/** Of the encoder: text stays sharp. */
const quality = 80
/** Long enough to see where the mouse is before it clicks. */
const beforeClick = 600

export async function createMovie(page: Page, size: MovingSize): Promise<Movie> {
  const client = await page.context().newCDPSession(page)
  const frames: MovingFrame[] = []
  const hold = async (milliseconds: number) => {
    // Until what was asked for is drawn.
    await page.waitForTimeout(400)
    const { data } = await client.send('Page.captureScreenshot', { format: 'webp', quality })
    frames.push({ picture: Buffer.from(data, 'base64'), milliseconds })
  }
  const point = async (target: Locator, share: number, milliseconds: number) => {
    await target.scrollIntoViewIfNeeded()
    const box = await target.boundingBox()
    if (!box) throw new Error('There is nothing to point at.')
    const [x, y] = [box.x + box.width * share, box.y + Math.min(box.height / 2, 120)]
    await page.mouse.move(x, y)
    await page.evaluate(`(${drawRing})(${x}, ${y})`)
    await hold(milliseconds)
  }
  return {
    hold,
    point,
    click: async (target) => {
      await point(target, 0.3, beforeClick)
      await target.click()
    },
    finish: () => animatedWebp(frames, size),
    times: () => frames.map(({ milliseconds }) => milliseconds),
    framesIn: (file) => page.evaluate<readonly number[]>(`(${decode})("${file.toString('base64')}")`),
  }
}

/** As text, because it runs in the page. */
const drawRing = `(x, y) => {
  const ring = document.getElementById('ring') ?? document.body.appendChild(document.createElement('div'))
  ring.id = 'ring'
  Object.assign(ring.style, {
    position: 'fixed', left: x - 11 + 'px', top: y - 11 + 'px', width: '22px', height: '22px', borderRadius: '50%',
    border: '2px solid #d0342c', background: 'rgb(208 52 44 / 0.18)', pointerEvents: 'none', zIndex: 99,
  })
}`

const decode = `async (text) => {
  const decoder = new ImageDecoder({ data: Uint8Array.fromBase64(text), type: 'image/webp' })
  await decoder.tracks.ready
  const times = []
  for (let frameIndex = 0; frameIndex < decoder.tracks.selectedTrack.frameCount; frameIndex++)
    times.push((await decoder.decode({ frameIndex })).image.duration / 1_000)
  return times
}`
