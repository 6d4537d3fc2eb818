import { closes } from './closes.ts'

closes(100)
