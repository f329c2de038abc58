// pi loads every file in the folder extensions of its own folder. So the installation is one file, and no file of pi is
// touched.
import { join } from 'node:path'
import type { InstallTarget, Place } from './target.ts'

export const pi: InstallTarget = {
  name: 'pi',
  title: 'pi',
  about:
    'From the next session on, pi compacts with Everlong and has a recall tool over all sessions of a project. /everlong is for you: context, lost, recall, undo. Set EVERLONG_MICRO=off to keep old tool results in the context.',
  changes: (place) => [
    {
      type: 'file',
      path: join(agentFolder(place), 'extensions', 'everlong.js'),
      content: place.pluginFile('pi', 'dist/everlong.js'),
    },
  ],
  // The search index of the recall tool.
  data: (place) => [join(agentFolder(place), 'everlong')],
}

/** The folder in which pi looks. */
function agentFolder({ home, env }: Place): string {
  const folder = env.PI_CODING_AGENT_DIR
  if (folder === undefined || folder === '') return join(home, '.pi', 'agent')
  return folder === '~' || folder.startsWith('~/') ? join(home, folder.slice(1)) : folder
}
