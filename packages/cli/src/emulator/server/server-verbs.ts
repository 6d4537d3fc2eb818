import { withPlace } from '../lib/shared-options.ts'
import { option, type Verb } from '../lib/verb.ts'
import { advanceClock } from './advance-clock.ts'
import { health } from './health.ts'
import { reset } from './reset.ts'
import { setFaults } from './set-faults.ts'
import { settings } from './settings.ts'
import { showClock } from './show-clock.ts'
import { showFaults } from './show-faults.ts'

/** What `ackhook emulator` does with an emulator that runs. */
export const SERVER_VERBS: readonly Verb<never>[] = [
  {
    name: 'health',
    description: 'Count deliveries by state; exit code 1 if something needs attention',
    options: [withPlace],
    run: health,
  },
  {
    name: 'settings',
    description: 'List every setting and limit; what is not published is marked',
    options: [withPlace],
    run: settings,
  },
  { name: 'faults', description: 'Show what goes wrong on purpose', options: [withPlace], run: showFaults },
  {
    name: 'faults set',
    description: 'Replace all faults by these, from the next attempt on',
    args: [['<name=chance...>', 'such as duplicate=0.1, lostReply or delay=2s']],
    options: [withPlace],
    run: setFaults,
  },
  {
    name: 'faults clear',
    description: 'Let nothing go wrong on purpose',
    options: [withPlace],
    run: setFaults,
  },
  { name: 'clock', description: "Show the emulator's time", options: [withPlace], run: showClock },
  {
    name: 'clock advance',
    description: 'Move it forward, and start what becomes due on the way',
    args: [['<duration>', 'such as 30s, 5m or 1h']],
    options: [withPlace],
    help: 'A receiver with its own clock refuses timestamps from the future: see retry.',
    run: advanceClock,
  },
  {
    name: 'reset',
    description: 'Empty the log, and take back what the clock was moved by and the faults that were set',
    options: [
      option('--everything', 'remove workspaces and endpoints too, except that of start --to'),
      withPlace,
    ],
    help: 'It does not ask first: tests call it between one another.',
    run: reset,
  },
]
