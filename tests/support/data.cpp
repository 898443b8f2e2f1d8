#include "support/data.hpp"
