// The interactive screen: ink draws, keys come one by one.
import { render } from 'ink'
import { createElement as h } from 'react'
import { App } from './app.ts'
import type { View } from './view.ts'

export const show: View = ({ store, controller, stdin, stdout }) => {
  const instance = render(h(App, { store, press: controller.press }), {
    stdin: stdin as NodeJS.ReadStream,
    stdout: stdout as NodeJS.WriteStream,
    exitOnCtrlC: false,
    patchConsole: false,
    // A test or a build server may set CI; a person at a terminal still wants the screen.
    interactive: true,
    incrementalRendering: true,
    kittyKeyboard: { mode: 'auto' },
  })
  return {
    redraw: () => {
      // First the frame, or terminals that scroll a cleared screen away would keep the old prompt in the scrollback.
      instance.clear()
      stdout.write('\u001b[2J\u001b[H')
      store.update((state) => ({ ...state }), 'now')
    },
    end: async () => {
      await instance.waitUntilRenderFlush()
      instance.clear()
      instance.unmount()
      await instance.waitUntilExit()
    },
  }
}
