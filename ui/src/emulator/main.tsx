import { render } from 'preact'
import '../kit/tokens.css'
import '../kit/base.css'
import '../kit/kit.css'
import { Emulator } from './emulator.tsx'

const root = document.getElementById('app')
if (root !== null) render(<Emulator />, root)
