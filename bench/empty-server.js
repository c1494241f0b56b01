// The server of probe-cost.js: an empty Express handler, for which the probe costs the most.
import express from 'express';

const app = express();
app.get('/', (request, response) => response.end());
app.listen(process.env.PORT, () => console.log('listening'));
