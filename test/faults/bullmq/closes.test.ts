import { BULLMQ_PLACES } from './bullmq-places.ts'
import { closes } from './closes.ts'

closes(100, BULLMQ_PLACES)
