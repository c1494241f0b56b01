// The server of probe-cost.js: an Express handler with nothing in it, where a probe costs the most.
import express from 'express';

const app = express();
app.get('/', (request, response) => response.end());
app.listen(process.env.PORT, () => console.log('listening'));
