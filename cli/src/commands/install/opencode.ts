// opencode loads every file in its folder for plug-ins, so the installation is one file of our own.
import { join } from 'node:path'
import type { InstallTarget, Place } from './target.ts'

export const opencode: InstallTarget = {
  name: 'opencode',
  title: 'opencode',
  about:
    'From its next start on, opencode adds to each summary what it lost, and the agent can search all sessions of a project. To store large tool results and shorten them in the context, write {"largeResults": 20000} (characters) to everlong.json in the folder of opencode.json.',
  changes: (place) => [
    {
      type: 'file',
      path: join(configFolder(place), 'plugins', 'everlong.js'),
      content: place.pluginFile('opencode', 'dist/everlong.js'),
    },
  ],
  data: ({ home, env }) => [join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'everlong', 'opencode')],
}

function configFolder({ home, env }: Place): string {
  return env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')
}
