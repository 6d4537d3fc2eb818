import { it } from 'vitest'
import { savesUnderAWatcher } from '../shutdown/saves-under-a-watcher.ts'
import { FOLDER } from './load.ts'

it.each([
  ['tsx watch', ['tsx/dist/cli.mjs', 'watch']],
  // Restarts with SIGUSR2.
  ['nodemon', ['nodemon/bin/nodemon.js', '--ext', 'mjs']],
  ['nodemon --signal SIGTERM', ['nodemon/bin/nodemon.js', '--signal', 'SIGTERM', '--ext', 'mjs']],
])(
  'a save under %s restarts the app once its events are handled, without a grace period',
  (_, [file, ...args]) => savesUnderAWatcher(`${FOLDER}node_modules/${file}`, ...args),
)
