import { testOverflow } from '../inbox/overflow.ts'
import { onBothEngines } from './on-both-engines.ts'

onBothEngines(testOverflow)
