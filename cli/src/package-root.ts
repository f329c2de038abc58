// The folder of this package: cli/ in a checkout, or where npm installed it. The sources lie deeper than the built files, so
// paths to what the package carries start here.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const packageRoot = nearestPackage(import.meta.dirname)

function nearestPackage(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  return nearestPackage(dirname(folder))
}
