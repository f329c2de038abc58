// The interactive screen: ink draws, keys come one by one.
import { render } from 'ink'
import { createElement as h } from 'react'
import { App } from './app.ts'
import { withWrite } from './capture.ts'
import { createFrameEraser } from './frame-eraser.ts'
import { showTitle } from './title.ts'
import type { View } from './view.ts'

export const show: View = ({ store, controller, stdin, stdout, env, folder }) => {
  const redraw = () => store.update((state) => ({ ...state }), 'now')
  const eraser = createFrameEraser({
    stdout,
    isWrapping: env.TMUX !== undefined,
    // Node handles this signal to learn the size.
    checkSize: () => void process.emit('SIGWINCH'),
    forget: () => instance.clear(),
    redraw,
  })
  stdout.on('resize', eraser.onResize)
  const instance = render(h(App, { store, press: controller.press, fit: eraser.fit }), {
    onRender: eraser.onRender,
    stdin: stdin as NodeJS.ReadStream,
    stdout: withWrite(stdout, eraser.write) as NodeJS.WriteStream,
    exitOnCtrlC: false,
    patchConsole: false,
    // A test or a build server may set CI, but a person at a terminal still wants the screen.
    interactive: true,
    incrementalRendering: true,
    kittyKeyboard: { mode: 'auto' },
  })
  const restoreTitle = showTitle({ store, stdout, env, folder })
  return {
    redraw: () => {
      // Clears the frame first, because terminals that scroll a cleared screen away would keep the old prompt in the scrollback.
      instance.clear()
      stdout.write('\u001b[2J\u001b[H')
      redraw()
    },
    end: async () => {
      stdout.off('resize', eraser.onResize)
      await instance.waitUntilRenderFlush()
      instance.clear()
      instance.unmount()
      await instance.waitUntilExit()
      restoreTitle()
    },
  }
}
