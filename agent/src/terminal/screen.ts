// The interactive screen: ink draws, keys come one by one.
import { render } from 'ink'
import { createElement as h } from 'react'
import { App } from './app.ts'
import { withWrite } from './capture.ts'
import { eraseWrapped, type Frame } from './frame-eraser.ts'
import { showTitle } from './title.ts'
import type { View } from './view.ts'

export const show: View = ({ store, controller, stdin, stdout, env, folder }) => {
  let drawing: Frame | undefined
  let shown: Frame | undefined
  let isMuted = false
  const onDraw = (frame: Frame) => {
    drawing = frame
  }
  const write = (...words: Parameters<typeof stdout.write>) => isMuted || stdout.write(...words)
  // Before ink hears of it.
  const onResize = () => {
    const { columns = 80 } = stdout
    if (env.TMUX === undefined || shown === undefined || columns >= shown.columns) return
    stdout.write(eraseWrapped(shown, columns))
    shown = undefined
    // It forgets the frame, without erasing what is now in its place.
    isMuted = true
    instance.clear()
    isMuted = false
  }
  stdout.on('resize', onResize)
  const instance = render(h(App, { store, press: controller.press, onDraw }), {
    onRender: () => {
      shown = drawing
    },
    stdin: stdin as NodeJS.ReadStream,
    stdout: withWrite(stdout, write) as NodeJS.WriteStream,
    exitOnCtrlC: false,
    patchConsole: false,
    // A test or a build server may set CI; a person at a terminal still wants the screen.
    interactive: true,
    incrementalRendering: true,
    kittyKeyboard: { mode: 'auto' },
  })
  const restoreTitle = showTitle({ store, stdout, env, folder })
  return {
    redraw: () => {
      // First the frame, or terminals that scroll a cleared screen away would keep the old prompt in the scrollback.
      instance.clear()
      stdout.write('\u001b[2J\u001b[H')
      store.update((state) => ({ ...state }), 'now')
    },
    end: async () => {
      stdout.off('resize', onResize)
      await instance.waitUntilRenderFlush()
      instance.clear()
      instance.unmount()
      await instance.waitUntilExit()
      restoreTitle()
    },
  }
}
