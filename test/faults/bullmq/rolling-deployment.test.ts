import { testRollingDeployments } from '../inbox/rolling-deployment.ts'
import { onBothEngines } from './on-both-engines.ts'

onBothEngines(testRollingDeployments)
