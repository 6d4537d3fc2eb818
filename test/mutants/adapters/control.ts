import type { Control } from '../mutant.ts'
import { casesOn } from './adapter-mutant.ts'
import { SmallAdapter } from './small-adapter.ts'

export const control: Control = () => casesOn(SmallAdapter)
