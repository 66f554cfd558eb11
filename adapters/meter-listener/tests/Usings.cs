global using System;
global using System.Collections.Generic;
global using System.Diagnostics.Metrics;
global using System.IO;
global using System.Linq;
global using System.Threading;
global using Picollo.Metrics;
