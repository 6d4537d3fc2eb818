import type { Control } from '../mutant.ts'
import { FileInbox } from './file-inbox.ts'
import { casesOnFile } from './file-mutant.ts'
import { casesOn } from './inbox-mutant.ts'

export const control: Control = () => [...casesOn(() => ({})), ...casesOnFile(FileInbox)]
