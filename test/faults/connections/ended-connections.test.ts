import { inFull } from '../../support/in-full.ts'
import { endedConnections } from './ended-connections.ts'

endedConnections(inFull(60_000, 3000))
