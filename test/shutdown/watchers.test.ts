import { it } from 'vitest'
import { savesUnderAWatcher } from './saves-under-a-watcher.ts'

it('a save under node --watch restarts the app once its events are handled, without a grace period', () =>
  savesUnderAWatcher('--watch'))
