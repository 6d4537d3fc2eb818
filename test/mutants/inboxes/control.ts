import type { Control } from '../mutant.ts'
import { casesOn } from './inbox-mutant.ts'

export const control: Control = () => casesOn(() => ({}))
